import type { FleetBox } from '../../core/schedule/planFleetRound.ts'
import type { BoxRecord, BoxSummary, Store } from '../../ports/store.ts'
import { type Database, json, pageOf, type Statement, sql, words } from './sql.ts'

/** Whether nobody has earned in a later window than box `b`, nor, unless it did itself, alone in a later round (attack 326). */
export const CURRENT = `not exists (select 1 from rounds r where r.paid and r.number > b.since)
  and (coalesce(b.alone, false) or not exists (select 1 from rounds r where r.alone and r.number > b.since))`

/** What the columns of `boxes b` are called in a record. */
const SUMMARY = `b.id, b.address, b.provider, b.claim, b.allocated, b.added_at as "addedAt", b.status,
  b.claim_verdict as "claimVerdict", b.score, b.terms, b.scored_at as "scoredAt", b.since, b.failures_in_row as "failuresInRow",
  b.failures_total as "failuresTotal", b.busy_in_row as "busyInRow", b.verified_total as "verifiedTotal",
  b.last_result as "lastResult", coalesce(b.moves, 0) as moves,
  coalesce(b.missed, 0) as missed, ${CURRENT} as current, coalesce(b.stalls, 0) as stalls, coalesce(b.models, '[]') as models,
  (select jsonb_build_object('outcome', r.outcome, 'code', r.code, 'at',
    to_char(r.at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) from results r where r.id = b.last_result) as last`

/** So long notes of chips are kept, longer than anybody asks for them. */
const FORGOTTEN_ROUNDS = 16

/**
 * A buyer's work would be measured, and disturbed, by a full proof that was planned before the box was rented (attack 140).
 * What comes in between is ended when it would be taken: neither waits for the other.
 */
const leaveAlone = (id: string): Statement => sql`
  update jobs set state = 'done', outcome = 'superseded', finished_at = clock_timestamp() where id in (
    select id from jobs where box_id = ${id}::text and state = 'waiting' and kind = 'full' for update skip locked)`

/** What was asked for in this round, or follows a change, and was ended by the rent (attack 325). A window does not come back. */
const askAgain = (id: string): Statement => sql`
  update jobs set state = 'waiting', outcome = null, finished_at = null, created_at = clock_timestamp(),
    due_at = clock_timestamp()
  where box_id = ${id}::text and state = 'done' and outcome = 'superseded' and reason in ('asked', 'changed')
    and round = coalesce((select max(number) from rounds), 0)`

/** Held while it is decided whose an address or a key is. Any constant does, other than that of the migrations. */
const PUT_LOCK = 7_341_207_456

/** A provider is one box, whether it is dialled or dials in. */
const LEASE_KEY = '^lease://.*#([0-9a-f]{64})$'
const leaseKey = (address: string): string | null => new RegExp(LEASE_KEY).exec(address)?.[1] ?? null

export const BOX = words(`${SUMMARY}, b.inventory`)

export function boxQueries(db: Database) {
  return {
    async putBox({ id, address, provider, claim, allocated }) {
      const other = await db.transaction(async (inside) => {
        // Two that ask at once would both find the address free.
        await inside.query(sql`select pg_advisory_xact_lock(${PUT_LOCK}::int8)`)
        const [other] = await inside.query<{ id: string }>(sql`
          select id from boxes where removed_at is null and id <> ${id}::text
            and (address = ${address}::text or substring(address from ${LEASE_KEY}::text) = ${leaseKey(address)}::text)
          order by id collate "C" limit 1`)
        if (other) return other.id
        // Score and acceptance end with the address, the claim and the provider they were earned under (attack 359), and with
        // the box's place in the fleet (attack 211); what was missed stays (attack 78).
        await inside.query(sql`
          update boxes set claim_verdict = null, score = 0, terms = '[]', scored_at = null, verified_total = 0,
            last_accepted = null, pending = null, models = null, inventory = null, moves = coalesce(moves, 0) + 1,
            stood = (select max(number) from rounds),
            prover_key = case when removed_at is null and address = ${address}::text then prover_key end,
            status = case when status = 'failed' then status else 'new' end
          where id = ${id}::text and (removed_at is not null
            or (claim, address, provider) is distinct from (${claim}::text, ${address}::text, ${provider}::text))`)
        await inside.query(sql`
          insert into boxes (id, address, provider, claim, allocated, stood)
          values (${id}::text, ${address}::text, ${provider}::text, ${claim}::text, ${allocated ?? false}::boolean,
            (select max(number) from rounds))
          on conflict (id) do update set address = excluded.address, provider = excluded.provider,
            claim = excluded.claim, removed_at = null,
            allocated = coalesce(${allocated}::boolean, boxes.allocated and boxes.removed_at is null)`)
        return null
      })
      if (allocated !== null && other === null) await db.query(allocated ? leaveAlone(id) : askAgain(id))
      return other
    },
    async removeBox(id) {
      const rows = await db.query(sql`
        with gone as (
          update boxes set removed_at = clock_timestamp() where id = ${id}::text and removed_at is null returning id
        ), ended as (
          update jobs set state = 'done', outcome = 'removed', finished_at = clock_timestamp()
          where id in (select id from jobs where box_id in (select id from gone) and state = 'waiting' for update skip locked)
        ) select id from gone`)
      return rows.length > 0
    },
    async setAllocated(id, allocated) {
      const rows = await db.query(sql`
        update boxes set allocated = ${allocated}::boolean where id = ${id}::text and removed_at is null returning id`)
      await db.query(allocated ? leaveAlone(id) : askAgain(id))
      return rows.length > 0
    },
    async box(id) {
      const [box] = await db.query<BoxRecord>(sql`
        select ${BOX} from boxes b where id = ${id}::text and removed_at is null`)
      return box ?? null
    },
    // By its letters, as whoever reads page after page compares them: a database has a language of its own (attack 153).
    async boxes({ provider = null, status = null, claimVerdict = null }, { after, limit }) {
      const rows = await db.query<BoxSummary>(sql`
        select ${words(SUMMARY)} from boxes b where removed_at is null and id > ${after ?? ''}::text collate "C"
          and (${provider}::text is null or provider = ${provider}::text)
          and (${status}::text is null or status = ${status}::text)
          and (${claimVerdict}::text is null or claim_verdict = ${claimVerdict}::text)
        order by id collate "C" limit ${limit + 1}::int4`)
      return pageOf(rows, limit, ({ id }) => id)
    },
    fleet: () =>
      db.query<FleetBox>(sql`
        select id, allocated, score, coalesce(stalls, 0) as stalls,
          coalesce(rest_until > clock_timestamp(), false) as rests, stood
        from boxes b where removed_at is null order by id`),
    async takeChips({ round, keptRounds, boxId, chips, isNoted }) {
      if (chips.length === 0) return []
      const oldest = round - keptRounds
      // What is deleted is of no use to anybody: the window of an earlier round may be under way (attack 410).
      await db.query(sql`
        delete from chips c where round < ${round - FORGOTTEN_ROUNDS}::int8
          and not exists (select 1 from boxes b where b.id = c.box_id and allocated)`)
      const held = () =>
        db.query<{ boxId: string; chip: string }>(sql`
          select distinct box_id as "boxId", chip from chips c
          where box_id <> ${boxId}::text and chip in (select jsonb_array_elements_text(${json(chips)}::text::jsonb))
            and (round = ${round}::int8 or exists (
              select 1 from boxes b where b.id = c.box_id and removed_at is null and score > 0 and ${words(CURRENT)}
                and (round >= ${oldest}::int8 or (allocated and ${keptRounds > 0}::boolean))))
          order by box_id`)
      if (!isNoted) return [...new Set((await held()).map((other) => other.boxId))]
      const before = await held()
      // Who borrows a chip that is another's does not take it from that one (attack 160).
      const free = chips.filter((chip) => before.every((other) => other.chip !== chip))
      await db.query(sql`
        insert into chips (round, chip, box_id) select ${round}::int8, chip, ${boxId}::text
        from jsonb_array_elements_text(${json(free)}::text::jsonb) as chip on conflict do nothing`)
      // Of two that bring it at once the key of the table lets one.
      return [...new Set((await held()).map((other) => other.boxId))]
    },
    takeKey: ({ boxId, moves, key, isSigned }) =>
      db.transaction(async (inside) => {
        // Two that show it at once would both find it free.
        await inside.query(sql`select pg_advisory_xact_lock(${PUT_LOCK}::int8)`)
        const [other] = await inside.query<{ id: string }>(sql`
          select id from boxes where prover_key = ${key}::text and removed_at is null and id <> ${boxId}::text
          order by id collate "C" limit 1`)
        if (!other && isSigned)
          await inside.query(sql`
            update boxes set prover_key = ${key}::text
            where id = ${boxId}::text and coalesce(moves, 0) = ${moves}::int4 and prover_key is distinct from ${key}::text`)
        return other?.id ?? null
      }),
    async boxesWithCards(cards, notBox) {
      if (cards.length === 0) return []
      const rows = await db.query<{ id: string }>(sql`
        select id from boxes where removed_at is null and id <> ${notBox}::text and exists (
          select 1 from jsonb_array_elements(coalesce(inventory -> 'devices', '[]')) as device
          where device -> 'details' ->> 'uuid' in (select jsonb_array_elements_text(${json(cards)}::text::jsonb))
        ) order by id limit 16`)
      return rows.map(({ id }) => id)
    },
  } satisfies Partial<Store>
}
