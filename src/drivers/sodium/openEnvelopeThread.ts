import type { EnvelopeChecker } from '../../ports/envelopeChecker.ts'
import { AskedThread } from '../system/askedThread.ts'
import { scriptUrl } from '../system/scriptUrl.ts'

/** A thread that checks signatures; it starts with the first row, since a node that is up to date needs none. */
export function openEnvelopeThread(genesisHash: Uint8Array): EnvelopeChecker {
  let thread: AskedThread<readonly Uint8Array[], number> | null = null
  return {
    rightOf: (row) => {
      if (thread === null || thread.hasEnded)
        thread = new AskedThread(scriptUrl('./envelopeWorker.ts', import.meta.url), genesisHash)
      return thread.ask(row)
    },
    close: async () => await thread?.close(),
  }
}
