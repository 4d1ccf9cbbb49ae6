import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { Finish } from '../../ports/store.ts'
import { json, type Statement, sql } from './sql.ts'

const compress = promisify(gzip)

/**
 * One statement, so that either everything of a result is there or nothing: the job must still be held by this owner at
 * this attempt, otherwise no row is written at all.
 */
export async function finishJob({ job, owner, result, box, retryInMs, followUps }: Finish): Promise<Statement> {
  const { certificate, claimVerdict } = result
  const { claim, address } = job.box
  const judged = box.status === 'verified' || box.status === 'claim-unmet'
  // Level 1: hashes in base64 shrink to three quarters at any level, and not further at a higher one.
  const gzipped = certificate === null ? null : new Uint8Array(await compress(certificate, { level: 1 }))
  return sql`
    with ended as (
      update jobs set state = case when ${retryInMs}::float8 is null then 'done' else 'waiting' end,
        outcome = ${result.outcome}::text, tries = tries + 1, finished_at = clock_timestamp(), lease_owner = null,
        created_at = clock_timestamp(),
        due_at = clock_timestamp() + coalesce(${retryInMs}::float8, 0) * interval '1 millisecond'
      where id = ${job.id}::int8 and attempt = ${job.attempt}::int4 and state = 'leased' and lease_owner = ${owner}::text
      returning id, attempt, round, box_id, kind, reason
    ), stored as (
      insert into results (job_id, attempt, round, box_id, provider, kind, reason, outcome, code, detail, preset, run_id,
        prover_key, started_at, seconds, score, claim_verdict, judgement, inventory, marks)
      select ended.id, attempt, round, box_id, boxes.provider, kind, reason, ${result.outcome}::text, ${result.code}::text,
        ${json(result.detail)}::text::jsonb, ${result.preset}::text, ${result.runId}::text, ${result.proverKey}::text,
        ${result.startedAt}::text::timestamptz, ${result.seconds}::float8, ${box.score}::int8, ${claimVerdict}::text,
        ${json(result.judgement)}::text::jsonb, ${json(result.inventory)}::text::jsonb, ${json(result.marks)}::text::jsonb
      from ended join boxes on boxes.id = ended.box_id
      returning id, round, box_id, provider
    ), measured as (
      insert into figures (result_id, device, name, value)
      select stored.id, f.device, f.name, f.value
      from stored, jsonb_to_recordset(${json(result.figures)}::text::jsonb) as f(device int4, name text, value float8)
    ), certified as (
      insert into certificates (run_id, result_id, box_id, gzip)
      select ${result.runId}::text, id, box_id, ${gzipped}::bytea from stored where ${gzipped !== null}::boolean
    ), failed as (
      insert into failures (box_id, provider, result_id, outcome, code)
      select box_id, provider, id, ${result.outcome}::text, ${result.code}::text from stored where ${box.failed}::boolean
    ), scored as (
      insert into scores (box_id, result_id, score, terms)
      select box_id, id, ${box.score}::int8, ${json(box.terms)}::text::jsonb from stored where ${box.scored}::boolean
    ), more as (
      insert into jobs (round, box_id, kind, reason, cohort, due_at)
      select j.round, box_id, j.kind, j.reason, j.cohort, clock_timestamp() + j."delayMs" * interval '1 millisecond'
      from stored, jsonb_to_recordset(${json(followUps)}::text::jsonb)
        as j(round int8, kind text, reason text, cohort int4, "delayMs" float8)
      on conflict do nothing
    ), known as (
      update boxes set
        status = case when ${judged}::boolean and (claim, address) is distinct from (${claim}::text, ${address}::text)
          then 'new' else ${box.status}::text end,
        claim_verdict = case when not ${box.scored}::boolean then claim_verdict
          when (claim, address) is not distinct from (${claim}::text, ${address}::text) then ${claimVerdict}::text end,
        score = ${box.score}::int8,
        terms = case when ${box.scored}::boolean then ${json(box.terms)}::text::jsonb else terms end,
        scored_at = case when ${box.scored}::boolean then clock_timestamp() else scored_at end,
        failures_in_row = ${box.failuresInRow}::int4, busy_in_row = ${box.busyInRow}::int4,
        failures_total = failures_total + ${box.failed}::boolean::int4,
        verified_total = verified_total + ${result.outcome === 'accepted'}::boolean::int4,
        last_result = stored.id,
        last_accepted = case when ${box.scored && result.outcome === 'accepted'}::boolean then stored.id
          else last_accepted end,
        inventory = coalesce(${result.inventory === null ? null : json(result.inventory)}::text::jsonb, inventory)
      from stored where boxes.id = stored.box_id
    )
    select id::float8 as id from stored`
}
