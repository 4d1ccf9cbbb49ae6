import type { BlockFacts } from '../core/chain/consensus/chainBlock.ts'

/** A block as it is kept: its place in the tree beside its bytes, so that the tree is rebuilt without reading bodies. */
export interface StoredBlock extends BlockFacts {
  /** Hash of the parent, in hexadecimal. */
  readonly parent: string
  readonly height: number
}

/** Everything that one step changes; on disk it is there as a whole or not at all. */
export interface ChainWrite {
  /** Parents before their children; what is there already may come again. */
  readonly blocks: readonly { readonly facts: StoredBlock; readonly bytes: Uint8Array }[]
  /** Whole states after some of the blocks. */
  readonly states: readonly { readonly id: string; readonly bytes: Uint8Array }[]
  /** Hash of the tip to build on, and of the last final block, which the head goes through. */
  readonly head: string
  readonly final: string
  /** Small values by name; null removes one. */
  readonly notes?: Readonly<Record<string, Uint8Array | null>>
}

/** A block that is marked. */
export interface Mark {
  readonly id: string
  readonly height: number
}

/** Blocks, some states, and which blocks are the head and the last final one. Hashes are in hexadecimal. */
export interface ChainStore {
  readonly head: Mark
  readonly final: Mark
  /** Returns when it would survive a power cut. One write at a time. */
  write(write: ChainWrite): Promise<void>
  /** Null for the genesis, which has a place and no bytes, and for what is not kept. */
  block(id: string): Promise<Uint8Array | null>
  facts(id: string): Promise<StoredBlock | null>
  /** The block of this height on the branch of the head. */
  idAt(height: number): Promise<string | null>
  /** All blocks above a height, of every branch, the lowest first. */
  above(height: number): Promise<readonly StoredBlock[]>
  /** Begins with a block that people vouch for, and the state after it, in place of the genesis. Only where nothing else is. */
  adopt(start: { readonly facts: StoredBlock; readonly bytes: Uint8Array; readonly state: Uint8Array }): Promise<void>
  /** Forgets all blocks below a height, which is that of a final block or less: they cannot be told to others any more. */
  forgetBelow(height: number): Promise<void>
  /** The state after a block, where it was written. Up to the last final block the newest stays, and a few for others to start from. */
  state(id: string): Promise<Uint8Array | null>
  /** Blocks whose state is there, the lowest first. */
  withState(): Promise<readonly Mark[]>
  note(name: string): Promise<Uint8Array | null>
  close(): Promise<void>
}
