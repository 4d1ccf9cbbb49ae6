import type { BoxRecord, BoxSummary, Store } from '../../ports/store.ts'
import { type Database, iso, isoOrNull, json, type Row, sql } from './sql.ts'

type BoxPart = Pick<Store, 'putBox' | 'removeBox' | 'setAllocated' | 'box' | 'boxes' | 'fleet' | 'boxesWithCards'>

export const boxOf = (row: Row): BoxRecord => ({
  ...summaryOf(row),
  inventory: row.inventory as BoxRecord['inventory'],
})

function summaryOf(row: Row): BoxSummary {
  return {
    id: row.id as string,
    address: row.address as string,
    provider: row.provider as string,
    claim: row.claim as string | null,
    allocated: row.allocated as boolean,
    addedAt: iso(row.added_at),
    status: row.status as BoxRecord['status'],
    claimVerdict: row.claim_verdict as BoxRecord['claimVerdict'],
    score: Number(row.score),
    terms: row.terms as BoxRecord['terms'],
    scoredAt: isoOrNull(row.scored_at),
    failuresInRow: row.failures_in_row as number,
    failuresTotal: row.failures_total as number,
    busyInRow: row.busy_in_row as number,
    verifiedTotal: row.verified_total as number,
    lastResult: row.last_result === null ? null : Number(row.last_result),
    moves: (row.moves as number | null) ?? 0,
    owes: ((row.still_owes ?? row.owes) as string[] | null) ?? [],
    missed: (row.missed as number | null) ?? 0,
    stalls: (row.stalls as number | null) ?? 0,
  }
}

export function boxQueries(db: Database): BoxPart {
  return {
    async putBox({ id, address, provider, claim, allocated }) {
      await db.transaction(async (inside) => {
        // Score and acceptance end with the address and the claim they were earned under; what was missed stays (attack 78).
        await inside.query(sql`
          update boxes set claim_verdict = null, score = 0, terms = '[]', scored_at = null, verified_total = 0,
            last_accepted = null, inventory = null, moves = coalesce(moves, 0) + 1,
            status = case when status = 'failed' then status else 'new' end
          where id = ${id}::text and (claim, address) is distinct from (${claim}::text, ${address}::text)`)
        await inside.query(sql`
          insert into boxes (id, address, provider, claim, allocated)
          values (${id}::text, ${address}::text, ${provider}::text, ${claim}::text, ${allocated}::boolean)
          on conflict (id) do update set address = excluded.address, provider = excluded.provider,
            claim = excluded.claim, allocated = excluded.allocated, removed_at = null`)
      })
    },
    async removeBox(id) {
      const rows = await db.query(sql`
        with gone as (
          update boxes set removed_at = clock_timestamp() where id = ${id}::text and removed_at is null returning id
        ), ended as (
          update jobs set state = 'done', outcome = 'removed', finished_at = clock_timestamp()
          where box_id in (select id from gone) and state = 'waiting'
        ) select id from gone`)
      return rows.length > 0
    },
    async setAllocated(id, allocated) {
      const rows = await db.query(sql`
        update boxes set allocated = ${allocated}::boolean where id = ${id}::text and removed_at is null returning id`)
      return rows.length > 0
    },
    async box(id) {
      const [row] = await db.query(sql`select * from boxes where id = ${id}::text and removed_at is null`)
      return row ? boxOf(row) : null
    },
    async boxes({ provider = null, status = null, claimVerdict = null }, { after, limit }) {
      const rows = await db.query(sql`
        select id, address, provider, claim, allocated, added_at, status, claim_verdict, score, terms, scored_at,
          failures_in_row, failures_total, busy_in_row, verified_total, last_result, moves, owes, missed, stalls
        from boxes where removed_at is null and id > ${after ?? ''}::text
          and (${provider}::text is null or provider = ${provider}::text)
          and (${status}::text is null or status = ${status}::text)
          and (${claimVerdict}::text is null or claim_verdict = ${claimVerdict}::text)
        order by id limit ${limit + 1}::int4`)
      const items = rows.slice(0, limit).map(summaryOf)
      return { items, next: rows.length > limit ? items.at(-1)!.id : null }
    },
    async fleet() {
      const rows = await db.query(sql`
        select id, allocated, owes, stalls, coalesce(rest_until > clock_timestamp(), false) as rests
        from boxes where removed_at is null order by id`)
      return rows.map((row) => ({
        id: row.id as string,
        allocated: row.allocated as boolean,
        owes: (row.owes as string[] | null) ?? [],
        stalls: (row.stalls as number | null) ?? 0,
        rests: row.rests as boolean,
      }))
    },
    async boxesWithCards(cards, notBox) {
      if (cards.length === 0) return []
      const rows = await db.query<{ id: string }>(sql`
        select id from boxes where removed_at is null and id <> ${notBox}::text and exists (
          select 1 from jsonb_array_elements(coalesce(inventory -> 'devices', '[]')) as device
          where device -> 'details' ->> 'uuid' in (select jsonb_array_elements_text(${json(cards)}::text::jsonb))
        ) order by id limit 16`)
      return rows.map(({ id }) => id)
    },
  }
}
