import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { z } from 'zod'
import { isUnmet } from '../../core/schedule/boxState.ts'
import { CPU_MODEL } from '../../core/schedule/fleetRecords.ts'
import { type Finish, waitsForWindow } from '../../ports/store.ts'
import { SCORE_RULES } from './migrations.ts'
import { REVIVE } from './queueQueries.ts'
import { json, type Statement, sql, words } from './sql.ts'

const compress = promisify(gzip)

/**
 * One statement, so that either everything of a result is there or nothing: the job must still be held by this owner at
 * this attempt, otherwise no row is written at all. A box whose address, claim or provider was changed meanwhile keeps the
 * result in its history, and nothing else of it (attack 78).
 */
export async function finishJob(finish: Finish): Promise<Statement> {
  const { job, owner, result, box, retryInMs, followUps } = finish
  const { certificate } = result
  const bytes = certificate === null ? null : Buffer.from(certificate)
  const hash = bytes && createHash('sha256').update(bytes).digest('hex')
  // Level 1: hashes in base64 shrink to three quarters at any level, and not further at a higher one. As text it is sent in
  // half the time that bytes take, in which nobody else is heard (attack 250).
  const gzipped = bytes && (await compress(bytes, { level: 1 })).toString('base64')
  const isAccepted = result.outcome === 'accepted'
  const isProof = box.atMost !== null || (isAccepted && box.scored)
  // Where nothing is earned a claim may be found unmet, never met (attacks 125, 346).
  const isJudged = box.scored || (isProof && isUnmet(result.claimVerdict))
  const claimVerdict = box.failed ? null : result.claimVerdict
  const isPending = waitsForWindow(finish)
  const isScored = box.scored && !isPending
  const pending = { window: job.window, score: box.score, terms: box.terms, rules: SCORE_RULES }
  const lower = { score: box.atMost, terms: box.terms }
  const hasEarned = isScored && isAccepted
  return sql`
    with mine as (
      -- Nothing heavy is asked again of a box that was rented in the meantime (attack 140).
      select j.*, j.kind = 'full' and b.allocated as spared from jobs j join boxes b on b.id = j.box_id
      where j.id = ${job.id}::int8
    ), again as (
      select clock_timestamp() + ${retryInMs}::float8 * interval '1 millisecond' as due_at from mine
      where not spared and ${retryInMs}::float8 is not null
    ), ended as (
      update jobs set state = case when exists (select 1 from again) then 'waiting' else 'done' end,
        outcome = ${result.outcome}::text, tries = tries + 1, finished_at = clock_timestamp(), lease_owner = null,
        created_at = clock_timestamp(), due_at = coalesce((select due_at from again), clock_timestamp())
      where id = ${job.id}::int8 and attempt = ${job.attempt}::int4 and state = 'leased' and lease_owner = ${owner}::text
      returning id, attempt, round, box_id, kind, reason
    ), stored as (
      insert into results (job_id, attempt, round, box_id, provider, kind, reason, outcome, code, detail, preset, run_id,
        prover_key, started_at, seconds, score, claim_verdict, judgement, inventory, marks)
      select id, attempt, round, box_id, ${job.box.provider}::text, kind, reason,
        ${result.outcome}::text, ${result.code}::text,
        ${json(result.detail)}::text::jsonb, ${result.preset}::text, ${result.runId}::text, ${result.proverKey}::text,
        ${result.startedAt}::text::timestamptz, ${result.seconds}::float8, ${box.score}::int8, ${result.claimVerdict}::text,
        ${json(result.judgement)}::text::jsonb, ${json(result.inventory)}::text::jsonb, ${json(result.marks)}::text::jsonb
      from ended
      returning id, round, box_id, provider
    ), measured as (
      insert into figures (result_id, device, name, value)
      select stored.id, f.device, f.name, f.value
      from stored, jsonb_to_recordset(${json(result.figures)}::text::jsonb) as f(device int4, name text, value float8)
    ), certified as (
      insert into certificates (run_id, result_id, box_id, gzip, sha256)
      select ${result.runId}::text, id, box_id, decode(${gzipped}::text, 'base64'), ${hash}::text
      from stored where ${gzipped !== null}::boolean
    ), before as (
      -- Its window may be settled, or have been, since the job was taken: what it holds now is what falls (attack 324).
      select b.id, b.score from boxes b join stored on b.id = stored.box_id for update of b
    ), known as (
      update boxes set status = ${box.status}::text,
        claim_verdict = case when ${isJudged}::boolean then ${claimVerdict}::text else claim_verdict end,
        score = case when ${isScored}::boolean then ${box.score}::int8 else least(boxes.score, ${box.atMost}::int8) end,
        score_rules = case when ${isScored}::boolean then ${SCORE_RULES}::int4 else score_rules end,
        terms = case when ${isScored}::boolean or boxes.score > ${box.atMost}::int8
          then ${json(box.terms)}::text::jsonb else terms end,
        scored_at = case when ${isScored}::boolean then clock_timestamp() else scored_at end,
        failures_in_row = ${box.failuresInRow}::int4, busy_in_row = ${box.busyInRow}::int4,
        missed = ${box.missed}::int4, stalls = ${box.stalls}::int4,
        -- Earned beside nobody: a window of the same round outdoes it, if the fleet has windows from now on (attack 286).
        since = case when ${hasEarned}::boolean then stored.round - 1 else since end,
        alone = ${hasEarned}::boolean or alone,
        pending = case when ${isPending}::boolean
          then ${json(pending)}::text::jsonb || jsonb_build_object('round', stored.round, 'result', stored.id)
          when ${box.failed}::boolean then null
          when (pending ->> 'score')::int8 > ${box.atMost}::int8 then pending || ${json(lower)}::text::jsonb else pending end,
        rest_until = clock_timestamp() + ${box.restMs}::float8 * interval '1 millisecond',
        failures_total = failures_total + ${box.failed}::boolean::int4,
        verified_total = verified_total + ${isAccepted}::boolean::int4,
        last_result = stored.id,
        last_accepted = case when ${hasEarned}::boolean then stored.id
          else last_accepted end,
        models = case when ${isProof}::boolean
          then ${json(modelsOf(result.judgement))}::text::jsonb else models end,
        inventory = coalesce(${result.inventory === null ? null : json(result.inventory)}::text::jsonb, inventory)
      from stored join before on before.id = stored.box_id
      where boxes.id = stored.box_id and coalesce(moves, 0) = ${job.box.moves}::int4
      returning stored.id, stored.round, box_id, boxes.provider, boxes.score, boxes.terms, boxes.score < before.score as fell,
        allocated, removed_at
    ), alone as (
      -- Only what somebody has earned outdoes what others did (attack 384).
      update rounds set alone = true from known
      where number = known.round and removed_at is null and rounds.alone is distinct from true
        and ${hasEarned && box.score > 0}::boolean
    ), failed as (
      insert into failures (box_id, provider, result_id, outcome, code)
      select box_id, provider, id, ${result.outcome}::text, ${result.code}::text from known where ${box.failed}::boolean
    ), scored as (
      insert into scores (box_id, result_id, score, terms, score_rules)
      select box_id, id, score, terms, ${SCORE_RULES}::int4 from known where ${isScored}::boolean or fell
    ), more as (
      insert into jobs (round, box_id, kind, reason, cohort, due_at, state, outcome, finished_at)
      select j.round, box_id, j.kind, j.reason, j.cohort, clock_timestamp() + j."delayMs" * interval '1 millisecond',
        case when spared then 'done' else 'waiting' end, case when spared then 'superseded' end,
        case when spared then clock_timestamp() end
      from known, jsonb_to_recordset(${json(followUps)}::text::jsonb)
        as j(round int8, kind text, reason text, cohort int4, "delayMs" float8)
        -- Of a rented box it comes back when the rent is over (attack 325).
        cross join lateral (select allocated and j.kind = 'full' as spared) of_it
      on conflict (round, box_id, kind, reason) ${words(REVIVE)}
    )
    select stored.id, known.id is not null as "isOfBox" from stored left join known on known.id = stored.id`
}

/** What a judgement names, device by device; a processor is known to be no card. */
const modelsOf = (judgement: unknown): readonly (string | null)[] =>
  judged
    .safeParse(judgement)
    .data?.devices.map(({ identity: { status, model } }) => (status === 'cpu' ? CPU_MODEL : model)) ?? []

const judged = z.object({
  devices: z.array(z.object({ identity: z.object({ status: z.string().optional(), model: z.string().nullable() }) })),
})
