import type { z } from 'zod'
import type { boxSummarySchema, statusSchema } from '../../apps/api/schemas.ts'
import type { STATUSES } from '../../core/schedule/boxState.ts'
import { CPU_MODEL } from '../../core/schedule/fleetRecords.ts'

type Told = z.infer<typeof statusSchema>
type Box = z.infer<typeof boxSummarySchema>

/** One box as an operator looks at it. */
export interface BoxLine extends Pick<Box, 'id' | 'provider' | 'status' | 'claim' | 'claimVerdict' | 'allocated'> {
  readonly model: string
  readonly score: number
  readonly reason: string
  readonly lastRunAt: string | null
}

/** What needs a person comes first. */
const URGENCY: readonly (typeof STATUSES)[number][] = ['failed', 'claim-unmet', 'busy', 'new', 'verified']

const byText = (x: string, y: string): number => (x < y ? -1 : Number(x > y))

/** The ways to order boxes, by name. */
export const SORTS: Readonly<Record<string, (x: BoxLine, y: BoxLine) => number>> = {
  state: (x, y) => URGENCY.indexOf(x.status) - URGENCY.indexOf(y.status) || byText(x.id, y.id),
  id: (x, y) => byText(x.id, y.id),
  score: (x, y) => y.score - x.score || byText(x.id, y.id),
  model: (x, y) => byText(x.model, y.model) || byText(x.id, y.id),
}

/**
 * Boxes of a fleet with windows come in pages, and a window may end in between: what was earned before it counts no longer
 * (attack 305).
 */
export function ofOneWindow(boxes: readonly Box[]): readonly Box[] {
  const newest = boxes.reduce((latest, { scoreNow, since }) => Math.max(latest, scoreNow > 0 ? (since ?? 0) : 0), 0)
  const isOver = ({ scoreNow, since }: Box) => scoreNow > 0 && (since ?? 0) < newest
  return boxes.map((box) => (isOver(box) ? { ...box, current: false, scoreNow: 0 } : box))
}

export function boxLineOf(box: Box): BoxLine {
  const { id, provider, status, claim, claimVerdict, allocated } = box
  const shown = { id, provider, status, claim, claimVerdict, allocated }
  return { ...shown, model: modelOf(box), score: box.scoreNow, reason: reasonOf(box), lastRunAt: box.last?.at ?? null }
}

const isCpuOnly = (models: Box['models']): boolean => models.length > 0 && models.every((model) => model === CPU_MODEL)

/** Equal devices are counted, as in "8x H100 SXM"; "-" where nothing was shown yet. */
function modelOf({ models }: Box): string {
  if (isCpuOnly(models)) return 'no GPU (CPU only)'
  const names = models.map((model) => model ?? 'unknown')
  const counted = [...new Set(names)].map((name) => {
    const count = names.filter((other) => other === name).length
    return count === 1 ? name : `${count}x ${name}`
  })
  return counted.length === 0 ? '-' : counted.join(', ')
}

const NO_GPU = 'a CPU earns nothing'
const NOTHING_EARNED = 'no recent run: earns nothing'
const NOT_CURRENT = 'was not in the last window: earns again in the next'

/** Why a box is not simply verified, in a few words; the code of its latest run where that was not accepted. */
function reasonOf({ status, claimVerdict, last, failuresInRow, busyInRow, current, allocated, ...rest }: Box): string {
  const ended = last === null || last.outcome === 'accepted' ? '' : (last.code ?? last.outcome)
  const often = (count: number): string => (count > 1 ? ` (${count} in a row)` : '')
  if (status === 'claim-unmet') return `claim ${claimVerdict ?? 'unmet'}`
  if (status === 'failed') return `${ended || 'failed'}${often(failuresInRow)}`
  if (status === 'busy') return `${ended || 'busy'}${often(busyInRow)}`
  if (status === 'new') return ended || 'no full run yet'
  if (ended || allocated) return ended || 'rented'
  if (isCpuOnly(rest.models)) return NO_GPU
  return current ? (rest.scoreNow === 0 ? NOTHING_EARNED : '') : NOT_CURRENT
}

/** The validator as a whole. */
export function showStatus({ program, round, queue, boxes, resultsLastHour, time, ...told }: Told): readonly string[] {
  const states = countedOf(told.byStatus)
  const verdicts = countedOf(told.byClaimVerdict)
  return [
    `validator   ${program}, ${time}`,
    `boxes       ${boxes}${states === '' ? '' : ` (${states})`}`,
    `claims      ${verdicts === '' ? 'none judged yet' : verdicts}`,
    `round       ${round ? `${round.number}, opened ${round.openedAt}` : 'none yet'}`,
    ...(round
      ? [`jobs        ${round.done} of ${round.jobs} done, ${round.accepted} accepted, ${round.rejected} rejected`]
      : []),
    `queue       ${queue.waiting} waiting, ${queue.held} under way, ${queue.lagSeconds.toFixed(0)} s behind`,
    `last hour   ${resultsLastHour} ${resultsLastHour === 1 ? 'result' : 'results'}`,
  ]
}

const countedOf = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .map(([name, count]) => `${count} ${name}`)
    .join(', ')

const HEAD = ['BOX', 'STATE', 'MODEL', 'SCORE', 'REASON'] as const
/** Widest that id and model may be where there is little room; the reason gets what is left. */
const MOST = [24, 11, 20, 9] as const
const GAP = 2

/** A row for each box that fits the width; what is cut ends with "…", and `--json` has all of it. */
export function boxTable(boxes: readonly BoxLine[], width: number): readonly string[] {
  const rows = [
    HEAD,
    ...boxes.map(({ id, status, model, score, reason }) => [id, status, model, String(score), reason]),
  ]
  const widest = HEAD.map((_, column) => Math.max(...rows.map((row) => [...row[column]!].length)))
  const room = width - (HEAD.length - 1) * GAP
  const isWide = widest.reduce((sum, one) => sum + one, 0) > room
  const widths = widest.map((one, column) => (isWide ? Math.min(one, MOST[column] ?? one) : one))
  const left = room - widths.slice(0, -1).reduce((sum, one) => sum + one, 0)
  widths[HEAD.length - 1] = Math.min(widths.at(-1)!, left)
  return rows.map((row) =>
    row
      .map((text, column) => fitted(text, widths[column]!, column === HEAD.indexOf('SCORE')))
      .join(' '.repeat(GAP))
      .trimEnd(),
  )
}

function fitted(text: string, width: number, toTheRight: boolean): string {
  const letters = [...text]
  const kept = letters.length > width ? `${letters.slice(0, width - 1).join('')}…` : text
  const blanks = ' '.repeat(width - [...kept].length)
  return toTheRight ? blanks + kept : kept + blanks
}
