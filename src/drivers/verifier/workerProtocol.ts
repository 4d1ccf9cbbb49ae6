import type { RejectReason } from '../../core/proof/reasons.ts'
import type { OpeningRange, Run } from '../../core/proof/verifyPart.ts'

/** To a worker: the run once, then ranges of it. */
export type ToWorker =
  | { readonly type: 'run'; readonly id: number; readonly run: Run }
  | { readonly type: 'range'; readonly id: number; readonly ticket: number; readonly range: OpeningRange }
  | { readonly type: 'forget'; readonly id: number }

export interface FromWorker {
  readonly ticket: number
  readonly reason: RejectReason | null
}
