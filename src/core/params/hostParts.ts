/** §12. What a host part is about: the order is that of the wire. */
export const HOST_TARGETS = ['memory', 'disk', 'cpu'] as const
export type HostTarget = (typeof HOST_TARGETS)[number]

/** §12. One block as it is stored, read and hashed. */
export const HOST_BLOCK_BYTES = 262_144

/** §12. A processor's lane: words it looks up by what it holds, as large as the nearest cache of a core. */
export const HOST_TABLE_BYTES = 32_768

/** §12. One step of a processor's lane, and what it looks up in each round. */
export const ROUNDS_PER_STEP = 262_144
export const ROUND_BYTES = 64

/** What a lane reads in a step. */
export const stepBytes = (target: HostTarget): number =>
  target === 'cpu' ? ROUNDS_PER_STEP * ROUND_BYTES : HOST_BLOCK_BYTES

/** A mark is where a lane stands. */
export const MARK_BYTES = 64

export const MAX_LANES = 256

/** A lane that has made so many marks stops by itself. */
export const MAX_MARKS = 64

/** Blocks of one store: 16 GiB. */
export const MAX_HOST_BLOCKS = 65_536

/** Steps from mark to mark. */
export const MAX_STRIDE = 1_000_000

export const HOST_BLOCK_TAG = 'tsp2/host-block'
export const HOST_LANE_TAG = 'tsp2/host-lane'
export const HOST_TABLE_TAG = 'tsp2/host-table'
