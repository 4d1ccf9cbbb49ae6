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
  /** Of the project: µut of a task at full utility, and 2^depth leaves of its result. */
  readonly work: bigint
  readonly depth: number
  readonly chunk: Chunk
  /** Earlier leaves of the same result that it was made from. */
  readonly inputs: readonly Chunk[]
}

/** Whether the chunk is right. An honest checker asks for exactly the inputs that the graph names, all before the chunk. */
export type CheckPatch = (patch: Patch) => boolean

/** What a project says of its tasks. */
export interface ProjectTerms {
  readonly kind: number
  readonly graph: Uint8Array
  readonly records: bigint
  readonly work: bigint
  readonly depth: number
}

/** Whether tasks on these terms can be done and checked, and are worth what they say. */
export type CheckTerms = (terms: ProjectTerms) => boolean

/** Whether tasks of a kind can have this live share: no search finds a share that is wrong beside a right result. */
export type CheckLive = (projectKind: number, live: number) => boolean
