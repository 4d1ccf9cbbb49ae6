import type { Precision } from '../params/precision.ts'

/** One 32 x 32 tile of C = A * B^T, named by where its rows of A and of B begin (in tiles). */
export interface TileRequest {
  readonly seed: Uint8Array
  readonly precision: Precision
  readonly k: number
  readonly tileRow: number
  readonly tileColumn: number
}

/** A leaf and the path above it; all but the path is what the verifier computes for itself. */
export interface LeafOpening {
  readonly own: TileRequest
  /** §7, §8: the tile that it is fingerprinted together with. */
  readonly partner?: TileRequest | undefined
  /** §7: the low 16 bits of the elements count alone. */
  readonly kept: boolean
  /** Of the masks: word 3 of a round's seed (§5), word 2 of a pass's words (§7). */
  readonly salt: number
  /** Its number, in the leaf and among the leaves. */
  readonly leaf: number
  readonly path: Uint8Array
}

/**
 * What a verifier needs of an engine. `referenceEngine` is the plain definition, `core/engine` the fast one; they agree bit
 * for bit.
 */
export interface TileEngine {
  /** The 1024 elements of a tile, row-major, as the u32 words of §5 (two's complement, or IEEE bits for fp32). */
  tile(request: TileRequest): Uint32Array
  /** §6. Where an opening leads: to the root that was sent, if the prover is honest. */
  rootFrom(opening: LeafOpening): Uint8Array
}
