import type { ReadReceipt } from '../../../core/certificate/receiptEvidence.ts'
import type { TensorHasher } from '../../../core/work/engineRun.ts'
import type { Tensors } from '../../../ports/workDevice.ts'
import type { SeeState } from '../inputFiles.ts'

/** A file of the result, the receipt it came with, and what else a reader has. */
export interface GivenResult extends Pick<ReadReceipt, 'work' | 'receipt'> {
  /** A path; of a film the folder of its pictures. */
  readonly path: string
  readonly hasher: TensorHasher
  /** Of inference: the model's folder. */
  readonly tokenizer: string | null
  /** The committed states, of a work whose transitions build on each other the last alone; null where nobody has them. */
  states(): Tensors | null
}

/** How the result of a kind is held against its receipt (W4.7). */
export interface ResultRule {
  /** Looks at states as they are made again. */
  readonly see?: SeeState
  /** Why the result is not what the receipt commits to; null where it is. Throws a fault where that cannot be told. */
  problem(given: GivenResult): string | null | Promise<string | null>
}
