/** A byte offset into the memory that the kernels work on, a multiple of 16. */
export type Pointer = number

/** What kernels/wasm and kernels/native export alike; hashes and seeds lie as their 32 bytes. */
export interface Kernels {
  /**
   * §3. Rows of A (matrix 0) or of the transposed B (1), 32 or a multiple of it from such a row on; k is a multiple of 32.
   * They take 32 k times 2 bytes, or 4 for fp32; how they lie in there is between `entries` and `product`.
   */
  entries(seed: Pointer, matrix: number, precision: number, row: number, rows: number, k: number, out: Pointer): void
  /** §6. One tile from the seed alone. */
  tile(seed: Pointer, precision: number, k: number, tileRow: number, tileColumn: number, out: Pointer): void
  /** The same tile from 32 rows of A and 32 of B that lie in memory. */
  product(precision: number, a: Pointer, b: Pointer, k: number, out: Pointer): void
  /** mask(0) … mask(count - 1) of §5 under a salt, or of §7 under word 2 of the pass words. */
  masks(salt: number, count: number, out: Pointer): void
  /** §5 */
  fingerprintTile(tile: Pointer, masks: Pointer, out: Pointer): void
  /** §7 with 512 kept words, §8 with 1024 elements. */
  fingerprintPair(own: Pointer, partner: Pointer, masks: Pointer, count: number, out: Pointer): void
  /** §7. The low 16 bits of a tile's elements. */
  keep(tile: Pointer, out: Pointer): void
  /** §7, §8. Signed result: take `>>> 0`. */
  partner(u: number, first: number, second: number, count: number): number
  /** Leaves first … first + count - 1 of a tree and the nodes above them alone. */
  subtree(fingerprints: Pointer, base: number, leaves: number, first: number, count: number, tree: Pointer): void
  /** The nodes above subtrees of `count` leaves. */
  crown(leaves: number, count: number, tree: Pointer): void
  nextSeed(seed: Pointer, root: Pointer, out: Pointer): void
  nextPass(z: Pointer, q: Pointer, out: Pointer): void
  passRoot(pass: number, root: Pointer, out: Pointer): void
  /** §2. The fused multiply-add of the fp32 chain. */
  fma(a: number, b: number, c: number): number
}

/** A module of kernels/wasm. Its entries lie row by row, as i16, or as f32 for fp32. */
export interface WasmKernels extends Kernels {
  readonly __heap_base: { readonly value: Pointer }
  readonly __stack_pointer: { value: Pointer }
}

export const alignUp = (value: number, to: number): number => Math.ceil(value / to) * to
