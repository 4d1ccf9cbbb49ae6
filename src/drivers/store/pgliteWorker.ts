import { parentPort, workerData } from 'node:worker_threads'
import { PGlite } from '@electric-sql/pglite'
import { PGLITE_START } from './pgliteSettings.ts'
import { PARSERS, type SqlValue } from './sql.ts'

/** Queries block the thread they run in; this is that thread. Messages are answered in order. */
export interface WorkerRequest {
  readonly id: number
  readonly text: string
  readonly values: readonly SqlValue[]
}

export type WorkerAnswer =
  | { readonly id: number; readonly rows: readonly Record<string, unknown>[] }
  | { readonly id: number; readonly error: string; readonly code: string }

const { folder } = workerData as { folder: string }
const db = await PGlite.create(folder, { startParams: [...PGLITE_START], parsers: PARSERS })
parentPort!.postMessage({ id: -1, rows: [] } satisfies WorkerAnswer)

parentPort!.on('message', async ({ id, text, values }: WorkerRequest) => {
  try {
    if (text === 'close') await db.close()
    const rows = text === 'close' ? [] : (await db.query<Record<string, unknown>>(text, [...values])).rows
    parentPort!.postMessage({ id, rows } satisfies WorkerAnswer)
  } catch (error) {
    const { message, code } = error as { message?: string; code?: string }
    parentPort!.postMessage({ id, error: String(message), code: String(code ?? '') } satisfies WorkerAnswer)
  }
})
