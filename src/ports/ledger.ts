import type { RoundRecord, ScoreProof } from '../core/ledger/roundRecord.ts'

/** How far a round has come: `published` is final, `pending` was sent and may still be lost, `refused` stays so for ever. */
export type Publication =
  | { readonly kind: 'published'; readonly where: string }
  | { readonly kind: 'pending' | 'refused'; readonly why: string }

/** What is published is never changed, and rounds only go up: both end here. */
export const OTHER_ROOT: Publication = { kind: 'refused', why: 'the ledger has another root for it, or a later round' }

/** A place where a validator publishes its rounds, so that nobody can be told another score later. */
export interface Ledger {
  /**
   * One step: publishes the round, or looks how far it has come. May be asked again, also by another process; it publishes
   * once. Whatever it throws may pass later.
   */
  publish(record: RoundRecord, signal: AbortSignal): Promise<Publication>
  /** Whether the ledger itself confirms that this score was published there and is final. */
  confirms(proof: ScoreProof, signal: AbortSignal): Promise<boolean>
}
