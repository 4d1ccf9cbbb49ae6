import type { Store } from '../../ports/store.ts'
import { boxQueries } from './boxQueries.ts'
import { careQueries } from './careQueries.ts'
import { fault } from './faults.ts'
import { ledgerQueries } from './ledgerQueries.ts'
import { MIGRATIONS } from './migrations.ts'
import { jobQueries, roundQueries } from './queueQueries.ts'
import { resultQueries } from './resultQueries.ts'
import { type Database, sql, words } from './sql.ts'
import { overview, statistics } from './statistics.ts'

/** One schema and one SQL over either engine. */
export async function storeFrom(db: Database): Promise<Store> {
  await migrate(db)
  return {
    ...boxQueries(db),
    ...roundQueries(db),
    ...jobQueries(db),
    ...resultQueries(db),
    ...ledgerQueries(db),
    ...careQueries(db),
    overview: () => overview(db),
    statistics: () => statistics(db),
    close: () => db.close(),
  }
}

/** Any constant does; it only has to be the same in every validator. */
const LOCK = 7_341_207_455

/** Brings the tables to this program's version. Several validators may start together: one migrates, the others wait. */
async function migrate(db: Database): Promise<void> {
  await db.transaction(async (inside) => {
    await inside.query(sql`select pg_advisory_xact_lock(${LOCK}::int8)`)
    await inside.query(sql`create table if not exists touchstone_schema (
      version int4 primary key, at timestamptz not null default clock_timestamp())`)
    const [row] = await inside.query<{ applied: number }>(
      sql`select coalesce(max(version), 0) as applied from touchstone_schema`,
    )
    const { applied } = row!
    if (applied > MIGRATIONS.length) throw fault('STORE_IS_NEWER', { applied, known: MIGRATIONS.length })
    for (const [i, statements] of MIGRATIONS.entries()) {
      if (i < applied) continue
      for (const text of statements) await inside.query(words(text))
      await inside.query(sql`insert into touchstone_schema (version) values (${i + 1}::int4)`)
    }
  })
}
