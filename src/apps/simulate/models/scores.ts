import { xoshiro } from '../xoshiro.ts'
import { atLeast, atMost, type Report } from './report.ts'

/** How a validator's reports of a box become its word: the latest one, or their mean with three parts old and one new. */
export type ReportRule = 'latest' | 'mean'

export interface ScoreSetting {
  readonly validators: number
  /** Share of the time that the box is there. */
  readonly up: number
  /** Shares of stake that never report, and that report the full score whatever they see. */
  readonly idle: number
  readonly liars: number
  readonly rule: ReportRule
}

const FULL_EPOCHS = 12
const GONE_EPOCHS = 36

/** A report counts in full for 12 epochs, then fades to nothing at 36 (§4). */
export const freshness = (age: number): number =>
  age <= FULL_EPOCHS ? 1 : Math.max(0, (GONE_EPOCHS - age) / (GONE_EPOCHS - FULL_EPOCHS))

/** The smallest value with half of all stake at or below it; stakes are equal here. */
export function stakeMedian(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.ceil(sorted.length / 2) - 1]!
}

/** The mean score of a box over so many epochs, 1 being the score it has while it is there. */
export function scoreOf({ validators, up, idle, liars, rule }: ScoreSetting, epochs: number, seed: string): number {
  const chance = xoshiro(seed)
  const words = Array.from({ length: validators }, () => ({ value: 0, at: -1000 }))
  const idleBelow = Math.round(validators * idle)
  const liarsBelow = idleBelow + Math.round(validators * liars)
  let sum = 0
  const settle = 100
  for (let epoch = 0; epoch < settle + epochs; epoch++) {
    for (const [number, word] of words.entries()) {
      if (number < idleBelow || chance.unit() >= 1 / 4) continue
      const seen = number < liarsBelow || chance.unit() < up ? 1 : 0
      word.value = rule === 'latest' ? seen : (3 * word.value + seen) / 4
      word.at = epoch
    }
    if (epoch >= settle) sum += stakeMedian(words.map(({ value, at }) => value * freshness(epoch - at)))
  }
  return sum / epochs
}

/**
 * What so many boxes on one machine hold together, 1 being what it has. Those that a validator draws together share a
 * window (§4.5.7). Their owner knows who asks: each box has a half of the validators to whom it shows all that is left, and
 * nobody looks at what the others say, since the median does not.
 */
export function sharedScore(boxes: number, validators: number, epochs: number, seed: string): number {
  const chance = xoshiro(seed)
  const words = Array.from({ length: boxes }, () => Array.from({ length: validators }, () => ({ value: 0, at: -1000 })))
  const isOurs = (box: number, validator: number) =>
    (validator + validators - Math.floor((box * validators) / boxes)) % validators < 0.56 * validators
  let sum = 0
  const settle = 100
  for (let epoch = 0; epoch < settle + epochs; epoch++) {
    for (let validator = 0; validator < validators; validator++) {
      const drawn = words.flatMap((word, box) => (chance.unit() < 1 / 4 ? [{ box, word: word[validator]! }] : []))
      const favoured = drawn.filter(({ box }) => isOurs(box, validator))
      const served = favoured.length > 0 ? favoured : drawn
      for (const one of drawn) {
        const seen = served.includes(one) ? 1 / served.length : 0
        one.word.value = (3 * one.word.value + seen) / 4
        one.word.at = epoch
      }
    }
    if (epoch < settle) continue
    for (const word of words) sum += stakeMedian(word.map(({ value, at }) => value * freshness(epoch - at)))
  }
  return sum / epochs
}

/** Score checks: who is there part of the time, who does not report, who lies. */
export function scores(seed: string, epochs: number): Report {
  const base: ScoreSetting = { validators: 64, up: 1, idle: 0, liars: 0, rule: 'mean' }
  const of = (more: Partial<ScoreSetting>) => scoreOf({ ...base, ...more }, epochs, `${seed}/${JSON.stringify(more)}`)
  const shared = (boxes: number) => sharedScore(boxes, base.validators, epochs, `${seed}/shared/${boxes}`)
  const ups = [0.01, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1]
  return {
    name: 'scores',
    findings: [
      atLeast('a box that is always there: score', of({}), 0.99),
      atLeast('the same, 40 % of stake never reports', of({ idle: 0.4 }), 0.95),
      atMost('a box that is there one minute in two hours', of({ up: 1 / 120 }), 0.02),
      atMost('a box that is there 60 % of the time', of({ up: 0.6 }), 0.65),
      atLeast(
        "the same if a validator's latest report alone counts, which is why the mean does",
        of({ up: 0.6, rule: 'latest' }),
        0.8,
      ),
      atMost('a box that is never there, 49 % of stake lies for it', of({ up: 0, liars: 0.49 }), 0.01),
      atLeast('over half of stake rules scores: never there, 52 % lie for it', of({ up: 0, liars: 0.52 }), 0.85),
      ...[2, 4, 8, 32].map((boxes) =>
        atMost(`${boxes} boxes on one machine, of what it has`, shared(boxes), 8 * (1 - 0.75 ** boxes)),
      ),
    ],
    charts: [
      {
        name: 'score-by-presence',
        title: 'Score of a box against the time it is there',
        x: 'share of the time',
        y: 'score',
        lines: (['mean', 'latest'] as const).map((rule) => ({
          name: rule === 'mean' ? "mean of a validator's reports" : 'its latest report',
          points: ups.map((up) => [up, of({ up, rule })] as const),
        })),
      },
    ],
  }
}
