/** Checks the signatures of blocks elsewhere, while the blocks before them are taken. */
export interface EnvelopeChecker {
  /** How many blocks of a row, from its start, have right signatures on their headers and all their transactions. */
  rightOf(row: readonly Uint8Array[]): Promise<number>
  close(): Promise<void>
}
