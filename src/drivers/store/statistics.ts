import type { FleetOverview, FleetStatistics } from '../../ports/store.ts'
import { CURRENT } from './boxQueries.ts'
import { type Database, sql, words } from './sql.ts'

type Counted = { name: string; count: number }

export async function overview(db: Database): Promise<FleetOverview> {
  const byStatus = await db.query<Counted>(sql`
    select status as name, count(*) from boxes where removed_at is null group by status order by status`)
  const byVerdict = await db.query<Counted>(sql`
    select claim_verdict as name, count(*) from boxes
    where removed_at is null and claim_verdict is not null group by claim_verdict order by claim_verdict`)
  const [recent] = await db.query<{ hour: number }>(sql`
    select count(*) as hour from results where at > clock_timestamp() - interval '1 hour'`)
  const boxes = byStatus.reduce((sum, { count }) => sum + count, 0)
  const byClaimVerdict = asRecord(byVerdict)
  return { boxes, byStatus: asRecord(byStatus), byClaimVerdict, resultsLastHour: recent!.hour }
}

/**
 * What the fleet looks like. Figures are of boxes whose scores count: they were all shown in one window, so that no card is
 * in the sums twice (attack 287).
 */
export async function statistics(db: Database): Promise<FleetStatistics> {
  const [totals] = await db.query<{ providers: number; results: number }>(sql`
    select (select count(distinct provider) from boxes where removed_at is null) as providers,
      (select count(*) from results) as results`)
  const codes = await db.query<Counted>(sql`
    select coalesce(code, outcome) as name, count(*) from failures group by 1 order by 1`)
  const figures = await db.query<FleetStatistics['figures'][number]>(sql`
    select name, count(*) as boxes, sum(total)::float8 as sum,
      percentile_cont(0.5) within group (order by total)::float8 as median
    from (select b.id, f.name, sum(f.value) as total from boxes b join figures f on f.result_id = b.last_accepted
      where b.removed_at is null and b.score > 0 and ${words(CURRENT)} group by b.id, f.name) t
    group by name order by name`)
  return { ...(await overview(db)), ...totals!, rejectedByCode: asRecord(codes), figures }
}

const asRecord = (rows: readonly Counted[]): Record<string, number> =>
  Object.fromEntries(rows.map(({ name, count }) => [name, count]))
