/** §12. What a host part reads: the order is that of the wire. */
export const HOST_TARGETS = ['memory', 'disk'] as const
export type HostTarget = (typeof HOST_TARGETS)[number]

/** §12. One block as it is stored, read and hashed. */
export const HOST_BLOCK_BYTES = 262_144

/** A mark is the SHA-512 a lane stands at. */
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
