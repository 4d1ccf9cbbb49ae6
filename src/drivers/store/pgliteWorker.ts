import { parentPort, workerData } from 'node:worker_threads'
import { PGlite } from '@electric-sql/pglite'
import { PGLITE_START } from './pgliteSettings.ts'
import { PARSERS, type Row, type Statement } from './sql.ts'

export type WorkerAnswer = { readonly rows: readonly Row[] } | { readonly error: string; readonly code: string }

const { folder } = workerData as { folder: string }
const db = await PGlite.create(folder, { startParams: [...PGLITE_START], parsers: PARSERS })

async function answer({ text, values }: Statement): Promise<WorkerAnswer> {
  try {
    if (text !== 'close') return { rows: (await db.query<Row>(text, [...values])).rows }
    await db.close()
    return { rows: [] }
  } catch (error) {
    const { message, code } = error as { message?: string; code?: string }
    return { error: String(message), code: String(code ?? '') }
  }
}

// Queries block the thread they run in; this is that thread. One after the other: answers come in the order of questions.
let last: Promise<void> = Promise.resolve()
parentPort!.on('message', (statement: Statement) => {
  last = last.then(async () => parentPort!.postMessage(await answer(statement)))
})
