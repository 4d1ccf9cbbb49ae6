import type { Problem } from '../core/chain/problems.ts'

/** What those who write to the chain must know of an account. */
export interface AccountView {
  readonly nonce: bigint
  readonly balance: bigint
  /** The last round of scores that it published, and its root; 0 if none. */
  readonly round: bigint
  readonly roundRoot: Uint8Array
}

/** What a transaction must be made for: this chain, its fee, and the slot that it is now. */
export interface ChainTerms {
  readonly genesisHash: Uint8Array
  readonly feePerByte: bigint
  readonly epochSlots: bigint
  /** The slot of the head. */
  readonly slot: bigint
}

/** Our own chain as those see it who send transactions: a node in this process, or one over HTTP. */
export interface ChainAccess {
  terms(signal: AbortSignal): Promise<ChainTerms>
  /** After the head, or after the last final block; null where there is no such account. */
  account(key: Uint8Array, at: 'head' | 'final', signal: AbortSignal): Promise<AccountView | null>
  /** Hands a transaction on; null where it was taken, else why not. */
  submit(tx: Uint8Array, signal: AbortSignal): Promise<Problem | null>
}
