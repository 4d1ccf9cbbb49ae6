import { taggedHash } from '../../bytes/sha256.ts'
import { TILE } from '../../params/constants.ts'
import type { TileEngine } from '../../proof/tileEngine.ts'
import type { TensorShape } from '../tensor.ts'
import { tensorRoot } from '../tensorTree.ts'

/** Tasks of kind 0 (docs/spec/chain.md §5.4): int8 products of matrices that follow from the seed. */
export const PRODUCT_KIND = 0
export const COLUMNS = 1_024
/** Every operand is drawn: nothing of it is zero all along a row. */
export const ALL_LIVE = 65_535
/** Rows of a result that one chunk stands for: those of a tile. */
export const CHUNK_ROWS = TILE
/** Chunks that share their matrices: what one seed of §3 of proof-of-gpu.md has rows for. */
export const BAND_CHUNKS = 1_024
const MOST_K = 2_048
const DEEPEST = 20
/** Operations of a µut in int8, and those of one chunk for each of its k. */
const OPERATIONS_PER_MICRO_UT = 3_456_000n
const CHUNK_OPERATIONS_PER_K = BigInt(2 * CHUNK_ROWS * COLUMNS)

/** What a project says of its tasks. */
export interface TaskTerms {
  readonly kind: number
  readonly graph: Uint8Array
  readonly records: bigint
  /** µut of one task at full utility. */
  readonly work: bigint
  /** Its result has 2^depth chunks. */
  readonly depth: number
}

/** The length of the rows that are multiplied: the least with as many operations as are paid for. Null: no such task. */
export function productLength(work: bigint, depth: number): number | null {
  if (work < 1n || depth < 0 || depth > DEEPEST) return null
  const perK = CHUNK_OPERATIONS_PER_K << BigInt(depth)
  const least = (work * OPERATIONS_PER_MICRO_UT + perK - 1n) / perK
  const k = ((least + BigInt(TILE) - 1n) / BigInt(TILE)) * BigInt(TILE)
  return k <= BigInt(MOST_K) ? Number(k) : null
}

/** Multiplications and additions of a task. */
export const operationsOf = (k: number, depth: number): bigint => (CHUNK_OPERATIONS_PER_K * BigInt(k)) << BigInt(depth)

/** Whether tasks on these terms can be done and checked: of a kind that is known, with nothing that it does not use. */
export const isKnownTask = ({ kind, graph, records, work, depth }: TaskTerms): boolean =>
  kind === PRODUCT_KIND && records === 0n && graph.every((byte) => byte === 0) && productLength(work, depth) !== null

/** The seed of the matrices of a chunk, and the place of the chunk among those that share them. */
export function bandOf(seed: Uint8Array, index: number): { readonly seed: Uint8Array; readonly tileRow: number } {
  const band = new Uint8Array(4)
  new DataView(band.buffer).setUint32(0, Math.floor(index / BAND_CHUNKS))
  return { seed: taggedHash('pod/band', seed, band), tileRow: index % BAND_CHUNKS }
}

const CHUNK_SHAPE: TensorShape = { type: 'i32', rows: CHUNK_ROWS, width: COLUMNS }

/** The chunk at a place of a task: the root (W4.1) of its rows of the product. */
export function productChunk(engine: Pick<TileEngine, 'tile'>, seed: Uint8Array, k: number, index: number): Uint8Array {
  const band = bandOf(seed, index)
  const rows = new Int32Array(CHUNK_ROWS * COLUMNS)
  for (let tileColumn = 0; tileColumn < COLUMNS / TILE; tileColumn++) {
    const tile = engine.tile({ ...band, precision: 'int8', k, tileColumn })
    for (let row = 0; row < TILE; row++)
      rows.set(tile.subarray(row * TILE, (row + 1) * TILE), row * COLUMNS + tileColumn * TILE)
  }
  return tensorRoot(CHUNK_SHAPE, new Uint8Array(rows.buffer))
}
