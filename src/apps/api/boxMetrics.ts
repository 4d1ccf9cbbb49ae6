import { STATUSES } from '../../core/schedule/boxState.ts'
import type { ScoreConfig } from '../../core/score/scoreConfig.ts'
import type { MetricDefinition, Metrics } from '../../ports/metrics.ts'
import type { BoxSummary, Store } from '../../ports/store.ts'
import { scoreNow } from '../shared/scoreNow.ts'

/** Each box is a series that somebody stores: of a larger fleet only the counts are told. */
export const MOST_BOXES = 2_000
const PAGE = 200

export const BOX_METRICS: readonly MetricDefinition[] = [
  { name: 'touchstone_boxes', help: 'Boxes of the fleet, by status.', type: 'gauge' },
  { name: 'touchstone_box_status', help: 'One for the status that a box has now.', type: 'gauge' },
  { name: 'touchstone_box_score_points', help: 'What the proof of a box is worth now.', type: 'gauge' },
  { name: 'touchstone_box_failures_in_row', help: 'How often in a row a box has failed.', type: 'gauge' },
  { name: 'touchstone_box_last_result_timestamp_seconds', help: 'When the latest run of a box ended.', type: 'gauge' },
]

/** Tells what the store knows of the boxes at this moment; a box that was removed is told no longer. */
export async function tellBoxes(
  metrics: Metrics,
  store: Store,
  { now, decay }: { readonly now: Date; readonly decay: ScoreConfig['decay'] },
): Promise<void> {
  const { boxes, byStatus } = await store.overview()
  const all = boxes > MOST_BOXES ? [] : await readBoxes(store)
  // All at one moment, which pages are not: those who add them up would count a card twice (attack 305).
  const standings = boxes > MOST_BOXES ? [] : await store.standings()
  metrics.replace(
    'touchstone_boxes',
    STATUSES.map((status) => [byStatus[status] ?? 0, { status }] as const),
  )
  const each = (name: string, figure: (box: BoxSummary) => number | null) =>
    metrics.replace(
      name,
      all.flatMap((box) => {
        const value = figure(box)
        return value === null ? [] : [[value, { box: box.id }] as const]
      }),
    )
  metrics.replace(
    'touchstone_box_status',
    all.map(({ id, status }) => [1, { box: id, status }] as const),
  )
  metrics.replace(
    'touchstone_box_score_points',
    standings.map((box) => [scoreNow(box, now, decay), { box: box.id }] as const),
  )
  each('touchstone_box_failures_in_row', ({ failuresInRow }) => failuresInRow)
  each('touchstone_box_last_result_timestamp_seconds', ({ last }) => last && Math.floor(Date.parse(last.at) / 1000))
}

/** Nothing is told of boxes while nothing is known of them. */
export const forgetBoxes = (metrics: Metrics): void => {
  for (const { name } of BOX_METRICS) metrics.replace(name, [])
}

async function readBoxes(store: Store): Promise<readonly BoxSummary[]> {
  const boxes: BoxSummary[] = []
  let after: string | null = null
  do {
    const { items, next } = await store.boxes({}, { after, limit: PAGE })
    boxes.push(...items)
    after = next
  } while (after !== null)
  return boxes
}
