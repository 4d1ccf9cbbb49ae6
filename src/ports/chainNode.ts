import type { ChainState } from '../core/chain/chainState.ts'
import type { Genesis } from '../core/chain/genesisType.ts'
import type { Problem } from '../core/chain/problems.ts'
import type { StoredBlock } from './chainStore.ts'

/** What a node tells those who subscribed. Hashes are in hexadecimal. */
export type ChainEvent =
  /** There is a new tip to build on; it may be on another branch than the one before. */
  | { readonly kind: 'head'; readonly block: StoredBlock }
  /** This block and all before it stay. */
  | { readonly kind: 'final'; readonly block: StoredBlock }
  /** Two final blocks exclude each other: the node has stopped. */
  | { readonly kind: 'halted'; readonly blocks: readonly [string, string] }

/** What became of a transaction that was handed in; `id` is the SHA-256 of its bytes. */
export type Submitted =
  | { readonly kind: 'taken' | 'known'; readonly id: string }
  | { readonly kind: 'refused'; readonly problem: Problem }

/** How a node does, for people and metrics. */
export interface NodeStatus {
  /** By the clock. */
  readonly slot: number
  readonly peers: number
  /** Transactions that wait for a block. */
  readonly pooled: number
  /** It is behind and fetches blocks: it makes none meanwhile. */
  readonly isSyncing: boolean
  readonly isHalted: boolean
  /** Key of the account that makes blocks and votes here, in hexadecimal; null only follows. */
  readonly account: string | null
}

/** A running node of our chain, as the programs beside it see it. */
export interface ChainNode {
  readonly genesis: Genesis
  /** The genesis hash, in hexadecimal. */
  readonly genesisId: string
  readonly head: StoredBlock
  readonly final: StoredBlock
  /** The state after the head. */
  headState(): Promise<ChainState>
  /** The state after the last final block. */
  finalState(): Promise<ChainState>
  /** The bytes of a block; null for the genesis, and for what is not kept. */
  block(id: string): Promise<Uint8Array | null>
  facts(id: string): Promise<StoredBlock | null>
  /** The block of this height on the branch of the head. */
  idAt(height: number): Promise<string | null>
  /** A transaction in its SSZ bytes: checked, kept for a block, told to others. */
  submit(bytes: Uint8Array): Promise<Submitted>
  /** Whether a transaction still waits for a block, or for the block that has it to become final. */
  isWaiting(bytes: Uint8Array): boolean
  /** The nonce of the next transaction of an account: after those that wait. */
  nextNonce(account: Uint8Array): Promise<bigint>
  status(): NodeStatus
  /** The newest final block whose whole state is kept: others can start from it. Null before the first. */
  checkpoint(): Promise<StoredBlock | null>
  /** Returns how to stop it. A listener that throws is not asked again. */
  subscribe(listener: (event: ChainEvent) => void): () => void
}
