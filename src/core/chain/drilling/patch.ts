/** A leaf of a result: its place and its bytes. */
export interface Chunk {
  readonly index: number
  readonly bytes: Uint8Array
}

/** One patch of a task, to be computed again from what it was made of. */
export interface Patch {
  readonly projectKind: number
  readonly graph: Uint8Array
  readonly seed: Uint8Array
  readonly record: bigint
  readonly chunk: Chunk
  /** Earlier leaves of the same result that it was made from. */
  readonly inputs: readonly Chunk[]
}

/** Whether the chunk is right. An honest checker asks for exactly the inputs that the graph names, all before the chunk. */
export type CheckPatch = (patch: Patch) => boolean
