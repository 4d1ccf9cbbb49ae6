import type { Pointer } from '../../engine/kernels.ts'

/** Trees, flows, pictures and draws (W4.1, W6, W7, W2.10). As `WorkKernels` has them. */
export interface KindKernels {
  /** W4.1. Leaves of rows, 32 bytes each. */
  leaves(x: Pointer, out: Pointer, rows: number, rowBytes: number): number
  /** W4.1. A node for each pair of the hashes below. */
  nodes(below: Pointer, out: Pointer, count: number): number
  /**
   * W4.1.3. From the hashes of leaves, ascending and without repeats, and those beside them to the root, which comes to
   * lie where the first of them lay. `leaves` are their numbers, u64, which are lost; `room` has twice as many hashes.
   */
  climb(hashes: Pointer, leaves: Pointer, beside: Pointer, room: Pointer, count: number, height: number): number

  /**
   * W6.2. Blocks first … of a lattice of blocksX * blocksY * blocksZ, one transition on; cells and out point at block
   * `first`, the populations at block 0, or with blocksX = 0 at the 61 rows that each block reads.
   */
  flow(
    populations: Pointer,
    cells: Pointer,
    out: Pointer,
    blocksX: number,
    blocksY: number,
    blocksZ: number,
    first: number,
    count: number,
    omega: number,
    velocityX: number,
    velocityY: number,
    velocityZ: number,
    pushX: number,
    pushY: number,
    pushZ: number,
  ): number
  /** W6.3. Blocks first … at the beginning; everything points at block `first`. */
  flowBegin(
    cells: Pointer,
    fieldOrNone: Pointer,
    out: Pointer,
    first: number,
    count: number,
    velocityX: number,
    velocityY: number,
    velocityZ: number,
    noise: number,
    key0: number,
    key1: number,
  ): number
  /** W6.2.6. One number for each block in each. */
  flowFigures(populations: Pointer, mass: Pointer, energy: Pointer, count: number): number

  /**
   * W7. Tiles first … of a row of tiles; 192 f32 and a count of rays for each. `scene` are the counts of triangles,
   * materials and nodes, `sky` the colours above and around.
   */
  picture(
    triangles: Pointer,
    kinds: Pointer,
    materials: Pointer,
    nodes: Pointer,
    camera: Pointer,
    out: Pointer,
    rays: Pointer,
    ...numbers: readonly number[]
  ): number

  /** W2.10.1. Fresh weights: ±mean + deviation * normal. */
  normal(
    out: Pointer,
    count: number,
    deviation: number,
    mean: number,
    key0: number,
    key1: number,
    tensor: number,
    transition: number,
    index: number,
  ): number
  /** W2.10.2. `seed` points at its 32 bytes; u32 windows. */
  windowOrder(seed: Pointer, out: Pointer, epoch: number, windows: number, first: number, count: number): number
  /** W2.10.3. x * factor + noise; argmax of it is the sample. Sequences and positions are u32, one for each row. */
  sampleNoise(
    x: Pointer,
    sequences: Pointer,
    positions: Pointer,
    out: Pointer,
    rows: number,
    width: number,
    first: number,
    factor: number,
    key0: number,
    key1: number,
  ): number
}
