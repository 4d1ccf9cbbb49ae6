import type { Store } from '../../ports/store.ts'
import { fault } from './faults.ts'
import {
  CLAIMS_OF_OLD,
  KEYS_OF_OLD,
  MIGRATIONS,
  PENDING_OF_OLD,
  SCHEMA_OF_KEYS,
  SCORES_OF_OLD,
  TABLES,
  TABLES_WITH_NUMBERS,
} from './migrations.ts'
import { type Database, json, type Queries, sql, words } from './sql.ts'

const HEADER = 'touchstone-store-1'
const PIECE = 100

export function careQueries(db: Database) {
  return {
    async useNonce(nonce, keepMs) {
      await db.query(
        sql`delete from nonces where at < clock_timestamp() - ${keepMs}::float8 * interval '1 millisecond'`,
      )
      const rows = await db.query(
        sql`insert into nonces (nonce) values (${nonce}::text) on conflict do nothing returning nonce`,
      )
      return rows.length > 0
    },
    async retain({ resultDays, certificateDays }) {
      const certificates = await db.query(sql`
        delete from certificates c using results r where r.id = c.result_id and r.outcome = 'accepted'
          and c.at < clock_timestamp() - ${certificateDays}::float8 * interval '1 day'
          and not exists (select 1 from boxes b
            where b.id = c.box_id and c.result_id in (b.last_accepted, (b.pending ->> 'result')::int8))
        returning c.run_id`)
      const results = await db.query(sql`
        delete from results r where r.at < clock_timestamp() - ${resultDays}::float8 * interval '1 day'
          and not exists (select 1 from boxes b
            where b.id = r.box_id and r.id in (b.last_accepted, b.last_result, (b.pending ->> 'result')::int8))
        returning r.id`)
      await db.query(sql`
        delete from jobs where state = 'done' and finished_at < clock_timestamp() - ${resultDays}::float8 * interval '1 day'`)
      await db.query(sql`
        delete from kept_rounds where state <> 'waiting' and at < clock_timestamp() - ${resultDays}::float8 * interval '1 day'`)
      // An embedded engine has no one who sweeps behind it and counts rows for its planner.
      await db.query(words(`vacuum (analyze) ${TABLES.join(', ')}`))
      return { results: results.length, certificates: certificates.length }
    },
    dump: (write) => dump(db, write),
    load: (lines) => load(db, lines),
    async ping() {
      await db.query(sql`select 1`)
    },
  } satisfies Partial<Store>
}

/** A snapshot as JSON lines: a header, then one row a line. Memory holds one piece at a time. */
async function dump(db: Database, write: (line: string) => Promise<void>): Promise<number> {
  return await db.transaction(async (inside) => {
    let written = 0
    await write(json({ format: HEADER, schema: MIGRATIONS.length }))
    for (const table of TABLES) {
      await inside.query(words(`declare ${table}_rows cursor for select to_jsonb(t) as row from ${table} t`))
      for (;;) {
        const rows = await inside.query(words(`fetch ${PIECE} from ${table}_rows`))
        for (const { row } of rows) await write(json({ table, row }))
        written += rows.length
        if (rows.length < PIECE) break
      }
    }
    return written
  }, 'snapshot')
}

async function load(db: Database, lines: AsyncIterable<string>): Promise<number> {
  return await db.transaction(async (inside) => {
    if ((await inside.query(sql`select id from boxes limit 1`)).length > 0) throw fault('STORE_NOT_EMPTY')
    let loaded = 0
    let waiting: { table: string; rows: unknown[] } = { table: '', rows: [] }
    const values = valuesOf(lines)
    const schema = schemaIn((await values.next()).value)
    for await (const { table, row } of values) {
      if (!TABLES.some((known) => known === table)) throw fault('NOT_A_BACKUP')
      if (table !== waiting.table || waiting.rows.length === PIECE) {
        await insertRows(inside, waiting)
        waiting = { table: String(table), rows: [] }
      }
      waiting.rows.push(row)
      loaded++
    }
    await insertRows(inside, waiting)
    const keys = schema < SCHEMA_OF_KEYS ? KEYS_OF_OLD : []
    for (const text of [...keys, ...CLAIMS_OF_OLD, ...SCORES_OF_OLD, PENDING_OF_OLD]) await inside.query(words(text))
    for (const table of TABLES_WITH_NUMBERS)
      await inside.query(sql`select setval(pg_get_serial_sequence(${table}::text, 'id'),
        coalesce((select max(id) from ${words(table)}), 0) + 1, false)`)
    await inside.query(words(`analyze ${TABLES.join(', ')}`))
    return loaded
  })
}

async function* valuesOf(lines: AsyncIterable<string>): AsyncGenerator<Readonly<Record<string, unknown>>> {
  for await (const line of lines) {
    if (line === '') continue
    let value: unknown
    try {
      value = JSON.parse(line)
    } catch {
      throw fault('NOT_A_BACKUP')
    }
    yield Object(value)
  }
}

/** Of what schema a backup is, which it says in its first line since 14. */
function schemaIn({ format, schema = 0 }: Readonly<Record<string, unknown>> = {}): number {
  if (format !== HEADER || typeof schema !== 'number') throw fault('NOT_A_BACKUP')
  return schema
}

async function insertRows(inside: Queries, { table, rows }: { table: string; rows: unknown[] }): Promise<void> {
  if (rows.length === 0) return
  await inside.query(sql`
    insert into ${words(table)} select * from jsonb_populate_recordset(null::${words(table)}, ${json(rows)}::text::jsonb)`)
}
