import { createHash } from 'node:crypto'
import { type RoundRecord, roundRecord } from '../../core/ledger/roundRecord.ts'
import type { KeptRound, Standing, Store } from '../../ports/store.ts'
import { CURRENT } from './boxQueries.ts'
import { resultQueries } from './resultQueries.ts'
import { type Database, json, sql, words } from './sql.ts'

/** What is published of a fleet, and the rounds that are on their way. */
export function ledgerQueries(db: Database) {
  return {
    async standings() {
      const rows = await db.query<Standing & { readonly runId: string | null }>(sql`
        select b.id, b.score, b.scored_at as "scoredAt", ${words(CURRENT)} as current, c.sha256 as certificate, c.run_id as "runId"
        from boxes b left join certificates c on c.result_id = b.last_accepted
        where b.removed_at is null order by b.id collate "C"`)
      const standings: Standing[] = []
      for (const { runId, ...standing } of rows)
        standings.push(standing.certificate === null && runId !== null ? await hashed(db, standing, runId) : standing)
      return standings
    },
    async keepRound(record) {
      const rows = await db.query(sql`
        insert into kept_rounds (validator, round, record)
        values (${record.validator}::text, ${record.round}::int8, ${json(record)}::text)
        on conflict do nothing returning round`)
      return rows.length > 0
    },
    async dueRound(validator) {
      // One whose clock was set back does not wait for a time that will not come.
      const [row] = await db.query<KeptRow>(sql`
        select * from (select ${KEPT}, due_at from kept_rounds
          where validator = ${validator}::text and state = 'waiting' order by round limit 1) oldest
        where due_at <= clock_timestamp() or due_at > clock_timestamp() + interval '1 day'`)
      return row ? kept(row) : null
    },
    async noteRound({ validator, round }, { state, said, retryInMs }) {
      await db.query(sql`
        update kept_rounds set state = ${state}::text, said = ${said}::text, tries = tries + 1,
          due_at = clock_timestamp() + ${retryInMs ?? 0}::float8 * interval '1 millisecond'
        where validator = ${validator}::text and round = ${round}::int8 and state = 'waiting'`)
    },
    async keptRound(validator, round) {
      const [row] = await db.query<KeptRow>(sql`
        select ${KEPT} from kept_rounds where validator = ${validator}::text
          and (${round}::int8 is null or round = ${round}::int8) order by round desc limit 1`)
      return row ? kept(row) : null
    },
  } satisfies Partial<Store>
}

const KEPT = words('record, state, tries, said')

type KeptRow = Omit<KeptRound, 'record'> & { readonly record: string }

const kept = ({ record, state, tries, said }: KeptRow): KeptRound => ({
  record: roundRecord.parse(JSON.parse(record)) satisfies RoundRecord,
  state,
  tries,
  said,
})

/** Of a certificate that was stored before its hash was. */
async function hashed(db: Database, standing: Standing, runId: string): Promise<Standing> {
  const hash = createHash('sha256')
  for await (const piece of (await resultQueries(db).certificate(runId)) ?? []) hash.update(piece)
  return { ...standing, certificate: hash.digest('hex') }
}
