import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { TouchstoneError } from '../../ports/errors.ts'
import type { Store } from '../../ports/store.ts'
import { scriptUrl } from '../system/scriptUrl.ts'
import { lockFolder } from './folderLock.ts'
import type { WorkerAnswer, WorkerRequest } from './pgliteWorker.ts'
import type { Database, Queries, Row, Statement } from './sql.ts'
import { storeFrom } from './storeFrom.ts'

/** PostgreSQL inside this process, in a thread of its own; one process per folder. */
export async function openEmbedded({ folder }: { readonly folder: string }): Promise<Store> {
  const path = resolve(folder)
  const unlock = await lockFolder(path)
  try {
    if (isFree(path)) await create(path)
    else if (!existsSync(join(path, 'PG_VERSION'))) throw unusable(path, new Error('it holds something else'))
    const store = await storeFrom(await openThread(path, unlock))
    // Whoever held these leases is gone: the folder is ours alone.
    await store.releaseLeases(null)
    return store
  } catch (error) {
    await unlock()
    throw error instanceof TouchstoneError ? error : unusable(path, error)
  }
}

/** Missing or empty; an empty folder may have been made by whoever set its owner. */
const isFree = (path: string): boolean =>
  !existsSync(path) || (statSync(path).isDirectory() && readdirSync(path).length === 0)

async function create(folder: string): Promise<void> {
  mkdirSync(dirname(folder), { recursive: true })
  const script = fileURLToPath(scriptUrl('./pgliteCreate.ts', import.meta.url))
  const child = spawn(process.execPath, [script, folder], { stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  child.stderr.on('data', (chunk: Buffer) => {
    said = (said + chunk.toString('utf8')).slice(0, 400)
  })
  const [code] = (await once(child, 'exit')) as [number | null]
  if (code !== 0) throw unusable(folder, new Error(said))
}

interface Asked {
  done(rows: readonly Row[]): void
  failed(error: Error): void
}

async function openThread(folder: string, unlock: () => Promise<void>): Promise<Database> {
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
  return databaseOf(send, async () => {
    await send('close', []).catch(() => {})
    await worker.terminate()
    await unlock()
  })
}

/** There is one connection: whoever holds a transaction has it alone, the others queue. */
function databaseOf(
  send: (text: string, values: Statement['values']) => Promise<readonly Row[]>,
  end: () => Promise<void>,
) {
  let last: Promise<unknown> = Promise.resolve()
  const alone = <T>(work: () => Promise<T>): Promise<T> => {
    const turn = last.then(work, work)
    last = turn.catch(() => {})
    return turn
  }
  const direct: Queries = {
    query: async <T extends Row>({ text, values }: Statement) => (await send(text, values)) as readonly T[],
  }
  let closing: Promise<void> | null = null
  const db: Database = {
    query: (statement) => alone(() => direct.query(statement)),
    transaction: (work) =>
      alone(async () => {
        await send('begin', [])
        try {
          const value = await work(direct)
          await send('commit', [])
          return value
        } catch (error) {
          await send('rollback', []).catch(() => {})
          throw error
        }
      }),
    close: () => {
      closing ??= alone(end)
      return closing
    },
  }
  return db
}

const unusable = (folder: string, cause: unknown) => {
  const code = String((cause as { code?: unknown } | null)?.code ?? '')
  const why = cause instanceof Error ? cause.message.slice(0, 200) : 'unknown'
  return new TouchstoneError(
    { code: 'STORE_UNUSABLE', folder },
    {
      message: `the data folder ${folder} cannot be used: ${why}${code ? ` (${code})` : ''}`,
      blame: 'user',
      retry: false,
      nextStep: 'Check that the disk has room and the folder is writable; a damaged store is restored from a backup.',
      cause,
    },
  )
}
