import type { ChunkAt } from '../../core/work/drilled/productChecks.ts'
import { productChunk } from '../../core/work/drilled/productTask.ts'
import { AskedThread } from '../system/askedThread.ts'
import { scriptUrl } from '../system/scriptUrl.ts'
import { chooseEngine, openEngine } from './engineStart.ts'

/** The right chunks of drilled products: at once, in this thread, or on one of its own, which starts with the first. */
export async function openChunks() {
  const start = await chooseEngine()
  const engine = await openEngine(start)
  let thread: AskedThread<Parameters<ChunkAt>, Uint8Array> | null = null
  return {
    chunkAt: ((...asked) => productChunk(engine, ...asked)) satisfies ChunkAt,
    elsewhere: (...asked: Parameters<ChunkAt>): Promise<Uint8Array> => {
      if (thread === null || thread.hasEnded)
        thread = new AskedThread(scriptUrl('./chunkWorker.ts', import.meta.url), start)
      return thread.ask(asked)
    },
    close: async () => await thread?.close(),
  }
}
