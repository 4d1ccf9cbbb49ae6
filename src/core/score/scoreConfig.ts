import type { Precision } from '../params/precision.ts'

/** Full marks of one score: what the reference configuration gets before bonuses. Points are whole numbers. */
export const FULL_SCORE = 1_000_000

export interface ScoreConfig {
  readonly mode: 'proven' | 'normalize'
  readonly weights: Readonly<Record<'gpu' | 'cpu' | 'ram' | 'disk', number>>
  /** All rates together have one weight, divided among the problems by `precisions`. */
  readonly gpu: Readonly<Record<'rates' | 'memory' | 'bandwidth' | 'scaling', number>>
  readonly precisions: Readonly<Record<Precision, number>>
  /** What counts as the best configuration: totals over all cards of one box. */
  readonly reference: {
    readonly rates: Readonly<Record<Precision, number>>
    readonly memoryBytes: number
    readonly bandwidth: number
  }
  /** Where CPU, RAM and disk reach full marks; more gives no more. */
  readonly limits: {
    /** Bytes looked up a second in lanes of a processor (§12), by the validator's clock. */
    readonly cpuLookups: number
    /** Counts only where no lane was walked. */
    readonly cpuWhetstoneMips: number
    readonly ramBytes: number
    readonly ramBandwidth: number
    readonly diskBytes: number
    readonly diskBandwidth: number
  }
  /** Share of a short rate that counts where no sustained rate was measured. */
  readonly unsustainedShare: number
  /** Share of the score that counts, by what attests: machine and cards, cards alone, nothing. */
  readonly tiers: Readonly<Record<'A' | 'B' | 'C', number>>
  readonly registrationBonus: number
  readonly allocationBonus: number
  /** A proof counts in full for `freshMs`, and afterwards loses half of what is left in each `halfLifeMs`. */
  readonly decay: { readonly freshMs: number; readonly halfLifeMs: number }
  /** Base score per catalogue model, any unit; cards of the best configuration. */
  readonly normalize: { readonly scores: Readonly<Record<string, number>>; readonly count: number }
}
