import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { ProviderSpec, ResultRecord, ResultSummary, Store } from '../../ports/store.ts'
import { fault } from './faults.ts'
import { finishJob } from './finishJob.ts'
import { type Database, iso, isoOrNull, type Row, sql } from './sql.ts'

type ResultPart = Pick<Store, 'finishJob' | 'result' | 'history' | 'certificate' | 'specs'>

const decompress = promisify(gunzip)

export function resultQueries(db: Database): ResultPart {
  return {
    async finishJob(finish) {
      const [row] = await db.query<{ id: number }>(await finishJob(finish)).catch(refuseForGood)
      return row?.id ?? null
    },
    async result(id) {
      const [row] = await db.query(sql`
        select r.*, (select coalesce(jsonb_agg(jsonb_build_object('device', f.device, 'name', f.name, 'value', f.value)
          order by f.device, f.name), '[]') from figures f where f.result_id = r.id) as figures
        from results r where r.id = ${id}::int8`)
      return row ? resultOf(row) : null
    },
    async history(boxId, { after, limit }) {
      const below = after === null ? null : Number(after)
      const rows = await db.query(sql`
        select id, round, box_id, provider, kind, reason, outcome, code, detail, preset, run_id, prover_key, started_at,
          seconds, score, marks, claim_verdict, at,
          (select coalesce(jsonb_agg(jsonb_build_object('device', f.device, 'name', f.name, 'value', f.value)
            order by f.device, f.name), '[]') from figures f where f.result_id = r.id) as figures
        from results r where box_id = ${boxId}::text and (${below}::int8 is null or id < ${below}::int8)
        order by id desc limit ${limit + 1}::int4`)
      const items = rows.slice(0, limit).map(summaryOf)
      return { items, next: rows.length > limit ? String(items.at(-1)!.id) : null }
    },
    async certificate(runId) {
      const [row] = await db.query<{ gzip: Uint8Array }>(
        sql`select gzip from certificates where run_id = ${runId}::text`,
      )
      return row ? (await decompress(row.gzip)).toString('utf8') : null
    },
    async specs(provider, { after, limit }) {
      const rows = await db.query(sql`
        select b.id as box_id, b.status, b.claim, b.claim_verdict, b.score::float8 as score, r.at, r.run_id,
          r.id as result,
          (select coalesce(jsonb_agg(jsonb_build_object('device', f.device, 'name', f.name, 'value', f.value)
            order by f.device, f.name), '[]') from figures f where f.result_id = r.id) as figures
        from boxes b left join results r on r.id = b.last_accepted
        where b.provider = ${provider}::text and b.removed_at is null and b.id > ${after ?? ''}::text
        order by b.id limit ${limit + 1}::int4`)
      const items = rows.slice(0, limit).map(specOf)
      return { items, next: rows.length > limit ? items.at(-1)!.boxId : null }
    },
  }
}

/** Classes 22 and 23: the data itself is refused, and would be again. Anything else may pass later. */
function refuseForGood(cause: unknown): never {
  const code = String((cause as { code?: unknown }).code ?? '')
  if (!/^2[23][0-9A-Z]{3}$/.test(code)) throw cause
  throw fault('RESULT_REFUSED', { state: code }, cause)
}

const summaryOf = (row: Row): ResultSummary => ({
  id: Number(row.id),
  round: Number(row.round),
  boxId: row.box_id as string,
  provider: row.provider as string,
  kind: row.kind as ResultRecord['kind'],
  reason: row.reason as ResultRecord['reason'],
  outcome: row.outcome as ResultRecord['outcome'],
  code: row.code as string | null,
  detail: row.detail as ResultRecord['detail'],
  preset: row.preset as string | null,
  runId: row.run_id as string | null,
  proverKey: row.prover_key as string | null,
  startedAt: iso(row.started_at),
  seconds: row.seconds as number,
  score: Number(row.score),
  figures: row.figures as ResultRecord['figures'],
  marks: row.marks as ResultRecord['marks'],
  claimVerdict: row.claim_verdict as ResultRecord['claimVerdict'],
  at: iso(row.at),
})

const resultOf = (row: Row): ResultRecord => ({
  ...summaryOf(row),
  judgement: row.judgement,
  inventory: row.inventory as ResultRecord['inventory'],
})

const specOf = (row: Row): ProviderSpec => ({
  boxId: row.box_id as string,
  status: row.status as ProviderSpec['status'],
  claim: row.claim as string | null,
  claimVerdict: row.claim_verdict as ProviderSpec['claimVerdict'],
  score: row.score as number,
  at: isoOrNull(row.at),
  runId: row.run_id as string | null,
  result: row.result === null ? null : Number(row.result),
  figures: row.figures as ProviderSpec['figures'],
})
