import { Worker } from 'node:worker_threads'
import { scriptUrl } from '../system/scriptUrl.ts'
import type { WorkerAnswer, WorkerRequest } from './pgliteWorker.ts'
import type { Row, Statement } from './sql.ts'

/** The database engine in a thread of its own. */
export interface EngineThread {
  send(text: string, values: Statement['values']): Promise<readonly Row[]>
  hasEnded(): boolean
  close(): Promise<void>
}

interface Asked {
  done(rows: readonly Row[]): void
  failed(error: Error): void
}

export async function openThread(folder: string): Promise<EngineThread> {
  const worker = new Worker(scriptUrl('./pgliteWorker.ts', import.meta.url), { workerData: { folder } })
  const asked = new Map<number, Asked>()
  const opened = new Promise<readonly Row[]>((done, failed) => asked.set(-1, { done, failed }))
  let ended: Error | null = null
  const endAll = (error: Error) => {
    ended ??= error
    for (const { failed } of asked.values()) failed(ended)
    asked.clear()
  }
  worker.on('message', (answer: WorkerAnswer) => {
    const waiting = asked.get(answer.id)
    asked.delete(answer.id)
    if ('error' in answer) waiting?.failed(Object.assign(new Error(answer.error), { code: answer.code }))
    else waiting?.done(answer.rows)
  })
  worker.on('error', (error) => endAll(error instanceof Error ? error : new Error('the database thread ended')))
  worker.on('exit', () => endAll(new Error('the database thread ended')))
  await opened
  let next = 0
  const send = (text: string, values: Statement['values']) =>
    new Promise<readonly Row[]>((done, failed) => {
      if (ended) return failed(ended)
      const id = next++
      asked.set(id, { done, failed })
      worker.postMessage({ id, text, values } satisfies WorkerRequest)
    })
  return {
    send,
    hasEnded: () => ended !== null,
    close: async () => {
      await send('close', []).catch(() => {})
      await worker.terminate()
    },
  }
}
