import { WINDOW_COHORT } from '../../core/schedule/planFleetRound.ts'
import type { BoxRecord, FleetRound, QueueState, Store, TakenJob, TakeRequest } from '../../ports/store.ts'
import { codeOf } from '../system/codeOf.ts'
import { BOX } from './boxQueries.ts'
import { SCORE_RULES } from './migrations.ts'
import { type Database, json, pageOf, type Statement, sql, words } from './sql.ts'

/**
 * Rounds and the queue of jobs. Instants are the database's own. One that lies more than a minute in the future was
 * written before its clock was set back: such a row counts as due, so that nothing waits for a time that will not come.
 */
export function roundQueries(db: Database) {
  return {
    async roundDue(everyMs) {
      const [row] = await db.query<{ due: boolean }>(sql`
        select not exists (
          select 1 from rounds where opened_at > clock_timestamp() - ${everyMs}::float8 * interval '1 millisecond'
            and opened_at < clock_timestamp() + interval '1 minute'
        ) as due`)
      return row!.due
    },
    async openRound({ number, height, jobs }) {
      const rows = await db.query(sql`
        with opened as (
          insert into rounds (number, height) values (${number}::int8, ${height}::int8)
          on conflict (number) do nothing returning number
        ), superseded as (
          update jobs set state = 'done', outcome = 'superseded', finished_at = clock_timestamp()
          from opened where state = 'waiting' and round < opened.number and reason in ('round', 'probe') returning id
        ), added as (
          insert into jobs (round, box_id, kind, reason, cohort, due_at)
          select opened.number, j."boxId", j.kind, j.reason, j.cohort,
            clock_timestamp() + j."delayMs" * interval '1 millisecond'
          from opened, jsonb_to_recordset(${json(jobs)}::text::jsonb)
            as j("boxId" text, kind text, reason text, cohort int4, "delayMs" float8)
          -- Rented since the round was planned (attack 140).
          where j.kind = 'light' or not exists (select 1 from boxes b where b.id = j."boxId" and b.allocated)
          on conflict do nothing
        ), placed as (
          update boxes set stood = opened.number
          from opened, jsonb_to_recordset(${json(jobs)}::text::jsonb) as j("boxId" text, kind text)
          -- Jobs before boxes, as who finishes one: in another order each would wait for the other.
          where boxes.id = j."boxId" and j.kind = 'full' and (select count(*) from superseded) >= 0
        ) select number from opened`)
      return rows.length > 0
    },
    async settle(round, window) {
      const rows = await db.query(settling(round, window))
      return rows.length
    },
    async lastRound() {
      const [round] = await db.query<FleetRound>(roundRows(null, 1))
      return round ?? null
    },
    async rounds({ after, limit }) {
      const rows = await db.query<FleetRound>(roundRows(after === null ? null : Number(after), limit + 1))
      return pageOf(rows, limit, ({ number }) => number)
    },
  } satisfies Partial<Store>
}

/** What was ended by a rent or a removal, and by no run, is asked for anew (attack 325). */
export const REVIVE = `do update set state = excluded.state, outcome = excluded.outcome, due_at = excluded.due_at,
  created_at = clock_timestamp(), finished_at = excluded.finished_at
  where jobs.state = 'done' and jobs.outcome in ('superseded', 'removed') and jobs.reason in ('asked', 'changed')`

/** The jobs of those rounds, for the validators that share them. */
export function jobQueries(db: Database) {
  return {
    async addJob({ round, boxId, kind, reason, cohort, delayMs }) {
      const rows = await db.query(sql`
        insert into jobs (round, box_id, kind, reason, cohort, due_at)
        select ${round}::int8, id, ${kind}::text, ${reason}::text, ${cohort}::int4,
          clock_timestamp() + ${delayMs}::float8 * interval '1 millisecond'
        from boxes where id = ${boxId}::text and removed_at is null
        on conflict (round, box_id, kind, reason) ${words(REVIVE)} returning id`)
      return rows.length > 0
    },
    async isOpen({ round, boxId, kind, reason }) {
      const rows = await db.query(sql`
        select id from jobs where round = ${round}::int8 and box_id = ${boxId}::text and kind = ${kind}::text
          and reason = ${reason}::text and state <> 'done'`)
      return rows.length > 0
    },
    async takeJobs(request) {
      const rows = await db.query<TakenRow>(claim(request)).catch(emptyWhenBoxTaken)
      return rows.map(({ job, ...box }) => ({ ...job, box }))
    },
    async keepJobs({ owner, holdMs, jobs }) {
      const rows = await db.query<{ id: number }>(sql`
        update jobs set leased_at = statement_timestamp(),
          lease_until = statement_timestamp() + ${holdMs}::float8 * interval '1 millisecond'
        from jsonb_to_recordset(${json(jobs)}::text::jsonb) as held(id int8, attempt int4)
        where jobs.id = held.id and jobs.attempt = held.attempt and state = 'leased' and lease_owner = ${owner}::text
        returning jobs.id`)
      return rows.map(({ id }) => id)
    },
    async releaseJobs(owner) {
      const rows = await db.query(sql`
        update jobs set state = 'waiting', lease_owner = null
        where state = 'leased' and (${owner}::text is null or lease_owner = ${owner}::text) returning id`)
      return rows.length
    },
    async queue() {
      const [state] = await db.query<QueueState>(sql`
        select count(*) filter (where state = 'waiting') as waiting, count(*) filter (where state = 'leased') as held,
          (select count(*) from jobs where state = 'done') as done,
          greatest(0, coalesce(extract(epoch from clock_timestamp() - min(due_at) filter (where state = 'waiting')),
            0))::float8 as "lagSeconds"
        from jobs where state <> 'done'`)
      return state!
    },
  } satisfies Partial<Store>
}

const isDue = (job: 'j' | 'e') =>
  words(`(${job}.due_at <= (select t from clock) or ${job}.created_at > (select t from clock) + interval '1 minute')`)

/**
 * The first due job of each box that is not being measured; jobs of the dead are taken over, and our own that nobody is at.
 * The open jobs are walked in the order of their index, so that a long queue costs no more than a short one.
 */
const claim = ({ owner, holdMs, limit, places = limit, atWork, ...lane }: TakeRequest): Statement => sql`
  with clock as materialized (select clock_timestamp() as t), lane as not materialized (
    select id, coalesce(rest_until between (select t from clock) and (select t from clock) + interval '2 days', false)
      as rests, removed_at is not null as gone, allocated
    from boxes where ${lane.stalled ?? null}::boolean is null or (coalesce(stalls, 0) > 0) = ${lane.stalled ?? null}::boolean
  ), waits as materialized (
    -- A cohort waits for a member that is at another job; the places do not (attack 108).
    select m.round, m.cohort from jobs l join jobs m on m.box_id = l.box_id join boxes b on b.id = l.box_id
    where l.state = 'leased' and m.state = 'waiting' and m.kind = 'full' and m.cohort >= 0
      and not b.allocated and b.removed_at is null
  ), due as (
    select j.id, j.round, j.cohort, j.kind, j.box_id, spared, gone from jobs j join lane on lane.id = j.box_id
      cross join lateral (select gone or (allocated and j.kind = 'full') as spared) of_it
    where j.state <> 'done' and (not rests or j.reason = 'asked' or spared)
      and (${lane.single ?? null}::boolean is null or (j.kind <> 'full' or j.cohort < 0) = ${lane.single ?? null}::boolean) and ((
      j.state = 'waiting'
      and ${isDue('j')}
      and (spared or not exists (select 1 from jobs o where o.box_id = j.box_id and o.state = 'leased'))
      and (spared or not exists (
        select 1 from jobs e where e.box_id = j.box_id and e.state = 'waiting' and ${isDue('e')}
          -- A window waits for no job of one that waits (attack 257), so that those wait for it (attack 304).
          and (e.kind <> 'full' or e.cohort < 0, e.due_at, e.id) < (j.kind <> 'full' or j.cohort < 0, j.due_at, j.id)
          and (not rests or e.reason = 'asked')
      ))
      and (spared or j.kind <> 'full' or (j.round, j.cohort) not in (select round, cohort from waits))
    ) or (
      j.state = 'leased' and (j.lease_owner <> ${owner}::text or (${atWork !== undefined}::boolean
        and j.id not in (select jsonb_array_elements_text(${json(atWork ?? [])}::text::jsonb)::int8)))
      and (j.lease_until < (select t from clock) or j.leased_at > (select t from clock) + interval '1 minute')
    ))
    order by j.due_at, j.id limit ${limit}::int4
    for update of j skip locked
  ), left_alone as (
    -- Rented or removed since it was taken, by a validator that has not ended it (attack 303).
    update jobs set state = 'done', outcome = case when gone then 'removed' else 'superseded' end,
      finished_at = (select t from clock) from due where jobs.id = due.id and spared
  ), cohorts as (
    select round, cohort, count(*) as size from jobs join (
      select distinct round, cohort from due where kind = 'full' and cohort >= 0
    ) as some_due using (round, cohort) where kind = 'full' and state = 'waiting' group by round, cohort
  ), missing as materialized (
    select round, cohort, box_id from jobs join cohorts using (round, cohort) join lane on lane.id = box_id
    where kind = 'full' and state = 'waiting' and not rests and due_at <= (select t from clock) + interval '1 second'
      and jobs.id not in (select id from due) and size <= ${places}::int4
  ), whole as (
    -- A cohort is taken whole, unless it is larger than all our places (attack 77).
    select due.id from due where not spared and (kind <> 'full' or cohort < 0 or not exists (
      select 1 from missing m where m.round = due.round and m.cohort = due.cohort and m.box_id <> due.box_id))
  ), standing as (
    select due.id, due.round from due join whole using (id) join jobs j using (id) join boxes b on b.id = due.box_id
    where due.kind = 'full' and due.cohort = ${WINDOW_COHORT}::int4 and j.reason = 'round' and coalesce(b.stalls, 0) = 0
  ), opened as (
    -- What counts is what was earned by boxes that were taken at once (§8.16). A window that nobody is at any more is begun
    -- anew, unless more have earned in it than are left: who dawdles would take it from them (attack 255).
    update rounds set window_no = coalesce(window_no, 0) + 1
    where number in (select round from standing) and settled is distinct from true and not exists (
      select 1 from jobs w where w.round = number and w.window_no = rounds.window_no
        and w.id not in (select id from due where spared)
      -- Not those that are worth nothing: whoever has no card would keep a window that he is done in (attack 387).
      having count(*) filter (where w.state = 'done' and w.outcome = 'accepted' and exists (
            select 1 from boxes e where e.id = w.box_id and (e.pending ->> 'round')::int8 = w.round
              and (e.pending ->> 'window')::int4 = w.window_no and (e.pending ->> 'score')::int8 > 0))
          >= greatest(1, count(*) filter (where w.state <> 'done'))
        or bool_or(w.state = 'leased' and w.lease_until >= (select t from clock) and w.id not in (select id from whole)))
    returning number, window_no
  ), taken as (
    update jobs set state = 'leased', attempt = attempt + 1, lease_owner = ${owner}::text, leased_at = t,
      lease_until = t + ${holdMs}::float8 * interval '1 millisecond',
      window_no = (select opened.window_no from standing join opened on number = round where standing.id = jobs.id)
    from whole, clock where jobs.id = whole.id
    returning jobs.id, round, box_id as "boxId", kind, reason, cohort, attempt, tries, window_no as "window"
  )
  select ${BOX}, to_jsonb(taken) as job from taken join boxes b on b.id = taken."boxId" order by taken.id`

type TakenRow = BoxRecord & { readonly job: Omit<TakenJob, 'box'> }

/**
 * All at one moment: what was earned in two windows, one after the other, may have been earned with one card. A round in
 * which nobody earned is no reason for what was earned before not to count.
 */
const settling = (round: number, window: number | null): Statement => sql`
  with over as (
    select number, window_no from rounds where number = ${round}::int8 and settled is distinct from true
      and window_no = coalesce(${window}::int4, window_no) and (${window}::int4 is not null or not exists (
        select 1 from jobs j where j.round = number and j.window_no = rounds.window_no and j.state <> 'done'))
    for update
  ), earned as (
    update boxes set score = (pending ->> 'score')::int8, terms = pending -> 'terms', score_rules = ${SCORE_RULES}::int4,
      scored_at = clock_timestamp(), since = number, alone = false, last_accepted = (pending ->> 'result')::int8, pending = null
    from over where removed_at is null
      and (pending ->> 'round')::int8 = number and (pending ->> 'window')::int4 = window_no
      and (pending ->> 'rules')::int4 = ${SCORE_RULES}::int4
    returning id, number, score, terms, last_accepted
  ), noted as (
    insert into scores (box_id, result_id, score, terms, score_rules)
    select id, last_accepted, score, terms, ${SCORE_RULES}::int4 from earned
  ), closed as (
    update rounds set settled = true, paid = exists (select 1 from earned where score > 0)
    where number in (select number from earned)
  ) select id from earned`

/** Two validators reached for two jobs of one box in the same instant: the index lets one through, the other asks again. */
function emptyWhenBoxTaken(error: unknown): never[] {
  if (codeOf(error) === '23505') return []
  throw error
}

const roundRows = (below: number | null, limit: number): Statement => sql`
  select r.number, r.opened_at as "openedAt", r.height, coalesce(r.settled, false) or not exists (
      select 1 from boxes b where b.removed_at is null and (b.pending ->> 'round')::int8 = r.number
        and (b.pending ->> 'window')::int4 = r.window_no) as settled,
    count(j.id) as jobs,
    count(j.id) filter (where j.state = 'done') as done,
    count(j.id) filter (where j.state = 'done' and j.outcome = 'accepted') as accepted,
    count(j.id) filter (where j.outcome = 'rejected') as rejected
  from (select * from rounds where ${below}::int8 is null or number < ${below}::int8
    order by number desc limit ${limit}::int4) r
  left join jobs j on j.round = r.number group by r.number, r.opened_at, r.height, r.settled, r.window_no order by r.number desc`
