import type { JobKind, JobReason } from './boxState.ts'
import { drawBelow, type RandomWords, shuffled } from './randomWords.ts'

export interface PlannedJob {
  readonly boxId: string
  readonly round: number
  readonly kind: JobKind
  readonly reason: JobReason
  /** Boxes of one cohort are opened in the same window (§8): a card lent to two of them shows half its speed. */
  readonly cohort: number
  readonly delayMs: number
}

export interface RoundInputs {
  readonly round: number
  readonly boxes: readonly { readonly id: string; readonly allocated: boolean }[]
  /** Every box starts within this span; which moment is random, so that nobody can be ready for it. */
  readonly maxDelayMs: number
  readonly cohortSize: number
  /** Until when one light look per box, at a random moment, may notice a changed driver, card or count; 0 leaves it out. */
  readonly probeUntilMs: number
  readonly words: RandomWords
}

/** Full proofs in random cohorts with one random start each; allocated boxes get a light one each, alone. */
export function planRound({ round, boxes, maxDelayMs, cohortSize, probeUntilMs, words }: RoundInputs): PlannedJob[] {
  const full = shuffled(
    boxes.filter(({ allocated }) => !allocated),
    words,
  )
  const cohorts = Math.ceil(full.length / cohortSize)
  const delays = Array.from({ length: cohorts }, () => drawBelow(maxDelayMs + 1, words))
  const heavy = full.map(({ id }, i) => {
    const cohort = Math.floor(i / cohortSize)
    return { boxId: id, round, kind: 'full', reason: 'round', cohort, delayMs: delays[cohort]! } as const
  })
  const light = boxes.filter(({ allocated }) => allocated)
  const alone = light.map(({ id }, i) => {
    const delayMs = drawBelow(maxDelayMs + 1, words)
    return { boxId: id, round, kind: 'light', reason: 'round', cohort: cohorts + i, delayMs } as const
  })
  const between = probeUntilMs - maxDelayMs
  const probes = (between > 0 ? boxes : []).map(({ id }, i) => {
    const delayMs = maxDelayMs + drawBelow(between, words)
    return { boxId: id, round, kind: 'light', reason: 'probe', cohort: cohorts + light.length + i, delayMs } as const
  })
  return [...heavy, ...alone, ...probes]
}
