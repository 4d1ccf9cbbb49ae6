import { DRAWN_SEGMENTS, INDEPENDENT_PATCHES, PRODUCT_PATCHES } from './draws.ts'

/**
 * W5. The chance that a cheat passes. `segments` is the share of segments that are wrong, `products` the share of the
 * products in such a segment.
 */
export const passChance = {
  /** Every segment that is drawn is run again: none hides. */
  replay: (segments: number, drawn = DRAWN_SEGMENTS): number => (1 - segments) ** drawn,
  openings: (segments: number, products: number, drawn = DRAWN_SEGMENTS): number =>
    (1 - segments * (1 - (1 - products) ** PRODUCT_PATCHES)) ** drawn,
  /** Of works whose transitions do not build on each other: the share of all operations that is wrong. */
  independent: (operations: number, patches = INDEPENDENT_PATCHES): number => (1 - operations) ** patches,
} as const
