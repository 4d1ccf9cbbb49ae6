import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import type { ProviderSpec, ResultRecord, ResultSummary, Store, StoredResult } from '../../ports/store.ts'
import { codeOf } from '../system/codeOf.ts'
import { CURRENT } from './boxQueries.ts'
import { fault } from './faults.ts'
import { finishJob } from './finishJob.ts'
import { type Database, pageOf, sql, words } from './sql.ts'

/** Of a file, as it is stored, in one statement; and of one, as it was, at a time. */
const STORED_PIECE_BYTES = 2 ** 18
const PIECE_BYTES = 2 ** 16

/** Of `results r`. */
const FIGURES = `(select coalesce(jsonb_agg(jsonb_build_object('device', f.device, 'name', f.name, 'value', f.value)
  order by f.device, f.name), '[]') from figures f where f.result_id = r.id) as figures`

/** A light look, or a run outside a window, has the points of its box as they were in its own column. */
const POINTS = '(select max(s.score) from scores s where s.result_id = r.id) as score'

/** What the columns of `results r` are called in a record. */
const SUMMARY = `r.id, r.round, r.box_id as "boxId", r.provider, r.kind, r.reason, r.outcome, r.code, r.detail, r.preset,
  r.run_id as "runId", r.prover_key as "proverKey", r.started_at as "startedAt", r.seconds, ${POINTS}, r.marks,
  r.claim_verdict as "claimVerdict", r.at, ${FIGURES}`

export function resultQueries(db: Database) {
  return {
    async finishJob(finish) {
      const [row] = await db.query<StoredResult>(await finishJob(finish)).catch(refuseForGood)
      return row ?? null
    },
    async result(id) {
      const [result] = await db.query<ResultRecord>(sql`
        select ${words(SUMMARY)}, r.judgement, r.inventory from results r where r.id = ${id}::int8`)
      return result ?? null
    },
    async history(boxId, { after, limit }) {
      const below = after === null ? null : Number(after)
      const rows = await db.query<ResultSummary>(sql`
        select ${words(SUMMARY)}
        from results r where box_id = ${boxId}::text and (${below}::int8 is null or id < ${below}::int8)
        order by id desc limit ${limit + 1}::int4`)
      return pageOf(rows, limit, ({ id }) => id)
    },
    async certificate(runId) {
      const [row] = await db.query<{ bytes: number }>(
        sql`select octet_length(gzip) as bytes from certificates where run_id = ${runId}::text`,
      )
      if (!row) return null
      const file = createGunzip({ chunkSize: PIECE_BYTES })
      // What goes wrong is told to whoever reads the file.
      pipeline(Readable.from(storedPieces(db, runId, row.bytes)), file).catch(() => {})
      return file
    },
    async specs(provider, { after, limit }) {
      const rows = await db.query<ProviderSpec>(sql`
        select b.id as "boxId", b.status, b.claim, b.claim_verdict as "claimVerdict", b.score, b.since,
          ${words(CURRENT)} as current, r.at, r.run_id as "runId", r.id as result, ${words(FIGURES)}
        from boxes b left join results r on r.id = b.last_accepted
        where b.provider = ${provider}::text and b.removed_at is null and b.id > ${after ?? ''}::text collate "C"
        order by b.id collate "C" limit ${limit + 1}::int4`)
      return pageOf(rows, limit, ({ boxId }) => boxId)
    },
  } satisfies Partial<Store>
}

/** 32 devices make some 50 MB, which would keep thread and store from everybody else. */
async function* storedPieces(db: Database, runId: string, bytes: number): AsyncGenerator<Uint8Array> {
  for (let from = 1; from <= bytes; from += STORED_PIECE_BYTES) {
    const [row] = await db.query<{ piece: Uint8Array }>(sql`
      select substring(gzip from ${from}::int4 for ${STORED_PIECE_BYTES}::int4) as piece
      from certificates where run_id = ${runId}::text`)
    if (!row) throw new Error('removed in the meantime')
    yield row.piece
  }
}

/** Classes 22, 23 and 54: the data itself is refused, or is too much, and would be again. Anything else may pass later. */
function refuseForGood(cause: unknown): never {
  const state = codeOf(cause)
  if (!/^(22|23|54)[0-9A-Z]{3}$/.test(state)) throw cause
  throw fault('RESULT_REFUSED', { state }, cause)
}
