import type { CheckedRow, RowToCheck } from '../core/chain/envelopes.ts'

/** Checks the signatures and proofs of blocks elsewhere, while the blocks before them are taken. */
export interface EnvelopeChecker {
  check(row: RowToCheck): Promise<CheckedRow>
  close(): Promise<void>
}
