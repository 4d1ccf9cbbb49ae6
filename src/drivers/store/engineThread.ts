import { AskedThread } from '../system/askedThread.ts'
import { scriptUrl } from '../system/scriptUrl.ts'
import type { WorkerAnswer } from './pgliteWorker.ts'
import { type Row, type Statement, words } from './sql.ts'

/** The database engine in a thread of its own. */
export interface EngineThread {
  send(statement: Statement): Promise<readonly Row[]>
  hasEnded(): boolean
  close(): Promise<void>
}

/** Resolves when the engine answers. */
export async function openThread(folder: string): Promise<EngineThread> {
  const script = scriptUrl('./pgliteWorker.ts', import.meta.url)
  const thread = new AskedThread<Statement, WorkerAnswer>(script, { folder })
  const send = async (statement: Statement): Promise<readonly Row[]> => {
    const answer = await thread.ask(statement)
    if ('error' in answer) throw Object.assign(new Error(answer.error), { code: answer.code })
    return answer.rows
  }
  await send(words('select 1'))
  return {
    send,
    hasEnded: () => thread.hasEnded,
    close: async () => {
      await send(words('close')).catch(() => {})
      await thread.close()
    },
  }
}
