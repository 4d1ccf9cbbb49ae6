import type { CardLauncher } from './cardKernels.ts'
import type { CardProducts } from './cardProducts.ts'
import type { Graph, Node } from './graph.ts'
import type { Phase } from './phases.ts'

/** What a fused kernel is queued with. */
export interface FusedTools {
  readonly launcher: CardLauncher
  readonly products: CardProducts
  /** Where a tensor lies. */
  at(name: string): bigint
  /** Bytes that kernels read, on the card. */
  table(name: string, bytes: Uint8Array): bigint
  /** How many transitions after the one that was planned this is. */
  readonly shift: number
  /** The word that a step sets where it writes what is no number. */
  faultOf(node: Node): bigint
  readonly size: CardSize
}

/** What a launch that fills the card asks for. */
export interface CardSize {
  readonly multiprocessors: number
  /** Shared memory that a block may have. */
  readonly sharedBytes: number
}

/** Steps that one or a few kernels stand for. What they write and nobody else reads is never made. */
export interface Fused {
  readonly covers: readonly Node[]
  /** Tensors it reads that its steps do not, and such of its steps' that another fused run reads. */
  readonly reads?: readonly string[]
  readonly writes?: readonly string[]
  /** Tensors that become others where they lie: nobody reads them any more. */
  readonly reuses?: readonly (readonly [from: string, to: string])[]
  /** It takes numbers that move on from transition to transition, so far and no further; else none of its numbers may. */
  readonly mostShift?: number
  /** Between two fused runs, and made by neither. */
  readonly never?: readonly string[]
  /** What it was joined of. */
  readonly parts?: readonly Phased[]
  run(tools: FusedTools): void
}

/** Steps that a launch has as one of its phases. */
export interface Phased extends Omit<Fused, 'run' | 'parts'> {
  /** Tensors that are read before its turn comes: no phase of the same launch makes them. */
  readonly ahead: readonly string[]
  phase(tools: FusedTools): Phase
}

/** Steps from one of them on that are run as one. */
export type Match = (graph: Graph, node: Node) => Fused | null
