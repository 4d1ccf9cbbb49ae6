import type { Precision } from '../params/precision.ts'

/** One 32 x 32 tile of C = A * B^T, named by where its rows of A and of B begin (in tiles). */
export interface TileRequest {
  readonly seed: Uint8Array
  readonly precision: Precision
  readonly k: number
  readonly tileRow: number
  readonly tileColumn: number
}

/**
 * What a verifier needs of an engine: the 1024 elements of a tile, row-major, as the u32 words of §5 (two's complement,
 * or IEEE bits for fp32). `referenceEngine` is the plain definition, `core/engine` the fast one; they agree bit for bit.
 */
export interface TileEngine {
  tile(request: TileRequest): Uint32Array
}
