import postgres from 'postgres'
import { TouchstoneError } from '../../ports/errors.ts'
import type { Log } from '../../ports/log.ts'
import type { Store } from '../../ports/store.ts'
import { codeOf } from '../system/codeOf.ts'
import { fault } from './faults.ts'
import { type Database, PARSERS, type Statement } from './sql.ts'
import { storeFrom } from './storeFrom.ts'

export interface PostgresOptions {
  /** postgres://user:password@host:port/database */
  readonly url: string
  /** Told, once, of a server that stands still: its connections stay, so nothing else would say so. */
  readonly log?: Log
  readonly silenceMs?: number
}

/** Longer than any statement of ours takes of a server that is well. */
const SILENCE_MS = 30_000

const MOST_TRIES = 5

/** A PostgreSQL server, which several validators may share. A lost connection is made anew at the next statement. */
export async function openPostgres({ url, log, silenceMs }: PostgresOptions): Promise<Store> {
  const client = postgres(url, {
    max: 4,
    connect_timeout: 10,
    idle_timeout: 60,
    // A server that comes back is used within a second.
    backoff: (retries) => Math.min(0.05 * 2 ** retries, 1),
    onnotice: () => {},
    connection: { application_name: 'touchstone' },
    types: Object.fromEntries(
      Object.entries(PARSERS).map(([type, parse]) => [
        type,
        { to: Number(type), from: [Number(type)], serialize: String, parse },
      ]),
    ),
  })
  const watched = watchSilence(log, silenceMs)
  const db: Database = {
    query: (statement) => undoneAgain(() => watched(ask(client, statement))),
    transaction: async (work, isolation) => {
      const mode = isolation === 'snapshot' ? 'isolation level repeatable read' : ''
      const run = (inside: postgres.TransactionSql) => work({ query: (statement) => watched(ask(inside, statement)) })
      return (await client.begin(mode, run)) as Awaited<ReturnType<typeof work>>
    },
    close: () => client.end({ timeout: 5 }),
  }
  try {
    return await storeFrom(db)
  } catch (error) {
    await client.end({ timeout: 1 })
    throw error instanceof TouchstoneError ? error : unreachable(error)
  }
}

/** A statement that met a deadlock is undone whole, and the other one goes on: it is said again. */
async function undoneAgain<T>(say: () => Promise<T>, tries = 1): Promise<T> {
  try {
    return await say()
  } catch (error) {
    if (codeOf(error) !== '40P01' || tries === MOST_TRIES) throw error
    return await undoneAgain(say, tries + 1)
  }
}

function watchSilence(log: Log | undefined, silenceMs = SILENCE_MS): <T>(answer: Promise<T>) => Promise<T> {
  let silent = false
  return async (answer) => {
    const timer = setTimeout(() => {
      if (!silent) log?.warn('the store has left a statement unanswered', { seconds: silenceMs / 1000 })
      silent = true
    }, silenceMs).unref()
    try {
      const rows = await answer
      if (silent) log?.info('the store answers again')
      silent = false
      return rows
    } finally {
      clearTimeout(timer)
    }
  }
}

async function ask<T>(on: Pick<postgres.Sql, 'unsafe'>, { text, values }: Statement): Promise<readonly T[]> {
  const rows = await on.unsafe(text, values as postgres.ParameterOrJSON<never>[], { prepare: true })
  return [...rows] as T[]
}

/** The URL may hold a password: neither it nor the server's own words are repeated. */
const unreachable = (cause: unknown) => {
  const why = codeOf(cause).replace(/[^\w]/g, '?').slice(0, 40)
  return fault('STORE_UNREACHABLE', { why: why || 'no code' }, cause)
}
