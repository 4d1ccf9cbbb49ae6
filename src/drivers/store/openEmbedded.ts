import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { TouchstoneError } from '../../ports/errors.ts'
import type { Store } from '../../ports/store.ts'
import { AskedThread } from '../system/askedThread.ts'
import { codeOf } from '../system/codeOf.ts'
import { lockFolder } from '../system/lockFolder.ts'
import { scriptUrl } from '../system/scriptUrl.ts'
import { tightenFolder } from '../system/tightenFolder.ts'
import { fault } from './faults.ts'
import type { WorkerAnswer } from './pgliteWorker.ts'
import { type Database, type Queries, type Row, type Statement, words } from './sql.ts'
import { storeFrom } from './storeFrom.ts'

/** PostgreSQL inside this process, in a thread of its own; one process per folder. */
export async function openEmbedded({ folder }: { readonly folder: string }): Promise<Store> {
  const path = resolve(folder)
  const unlock = await lockFolder(path, () => fault('STORE_IN_USE', { folder: path }))
  try {
    if (isFree(path)) await create(path)
    else if (!existsSync(join(path, 'PG_VERSION'))) throw unusable(path, new Error('it holds something else'))
    tightenFolder(path)
    const store = await storeFrom(await openDatabase(path, unlock))
    // Whoever held these jobs is gone: the folder is ours alone.
    await store.releaseJobs(null)
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
  mkdirSync(dirname(folder), { recursive: true, mode: 0o700 })
  const script = fileURLToPath(scriptUrl('./pgliteCreate.ts', import.meta.url))
  await promisify(execFile)(process.execPath, [script, folder]).catch((cause: { readonly stderr: string }) => {
    throw unusable(folder, new Error(cause.stderr))
  })
}

/** There is one connection: whoever holds a transaction has it alone, the others queue. */
async function openDatabase(folder: string, unlock: () => Promise<void>): Promise<Database> {
  let thread = await openThread(folder)
  let last: Promise<unknown> = Promise.resolve()
  const alone = <T>(work: () => Promise<T>): Promise<T> => {
    const turn = last.then(work, work)
    last = turn.catch(() => {})
    return turn
  }
  // A full disk ends the engine. What was committed is on disk: a new one takes up from there when there is room again.
  const revive = async () => {
    if (thread.hasEnded() && closing === null) thread = await openThread(folder)
  }
  const direct: Queries = {
    query: async <T>(statement: Statement) => (await thread.send(statement)) as readonly T[],
  }
  let closing: Promise<void> | null = null
  return {
    query: (statement) =>
      alone(async () => {
        await revive()
        return await direct.query(statement)
      }),
    transaction: (work) =>
      alone(async () => {
        await revive()
        return await inTransaction(thread, () => work(direct))
      }),
    close: () => {
      closing ??= alone(async () => {
        await thread.close()
        // The engine writes its caches with modes of its own, which only the closed folders around them make up for.
        tightenFolder(folder)
        await unlock()
      })
      return closing
    },
  }
}

/** The database engine in a thread of its own; resolves when it answers. */
async function openThread(folder: string) {
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

type EngineThread = Awaited<ReturnType<typeof openThread>>

async function inTransaction<T>(thread: EngineThread, work: () => Promise<T>): Promise<T> {
  await thread.send(words('begin'))
  try {
    const value = await work()
    await thread.send(words('commit'))
    return value
  } catch (error) {
    await thread.send(words('rollback')).catch(() => {})
    throw error
  }
}

const unusable = (folder: string, cause: unknown) => {
  const code = codeOf(cause)
  const why = cause instanceof Error ? cause.message.slice(0, 200) : 'unknown'
  return fault('STORE_UNUSABLE', { folder, why, system: code ? ` (${code})` : '' }, cause)
}
