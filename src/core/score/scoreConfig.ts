import type { Precision } from '../params/precision.ts'

/** Full marks of one score: what the reference configuration gets before bonuses. Points are whole numbers. */
export const FULL_SCORE = 1_000_000

export interface BoxWeights {
  readonly gpu: number
  readonly cpu: number
  readonly ram: number
  readonly disk: number
}

export interface GpuWeights {
  /** All rates together; divided among the problems by `precisions`. */
  readonly rates: number
  readonly memory: number
  readonly bandwidth: number
  readonly scaling: number
}

/** What counts as the best configuration: totals over all cards of one box. */
export interface GpuReference {
  readonly rates: Readonly<Record<Precision, number>>
  readonly memoryBytes: number
  readonly bandwidth: number
}

/** Where CPU, RAM and disk reach full marks; more gives no more. */
export interface BoxLimits {
  readonly cpuHashing: number
  readonly cpuWhetstoneMips: number
  readonly ramBytes: number
  readonly ramBandwidth: number
  readonly diskBytes: number
  readonly diskBandwidth: number
}

export interface Decay {
  /** A proof counts in full this long. */
  readonly freshMs: number
  /** Afterwards it loses half of what is left in each such span. */
  readonly halfLifeMs: number
}

export interface NormalizeBase {
  /** Base score per catalogue model, any unit. */
  readonly scores: Readonly<Record<string, number>>
  /** Cards of the best configuration. */
  readonly count: number
}

export interface ScoreConfig {
  readonly mode: 'proven' | 'normalize'
  readonly weights: BoxWeights
  readonly gpu: GpuWeights
  readonly precisions: Readonly<Record<Precision, number>>
  readonly reference: GpuReference
  readonly limits: BoxLimits
  /** Share of a short rate that counts where no sustained rate was measured. */
  readonly unsustainedShare: number
  readonly registrationBonus: number
  readonly allocationBonus: number
  readonly decay: Decay
  readonly normalize: NormalizeBase
}
