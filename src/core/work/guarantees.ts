import { DRAWN_SEGMENTS, INDEPENDENT_PATCHES, OTHER_PATCHES, PRODUCT_PATCHES } from './draws.ts'

/**
 * W5. The chance that a cheat passes. `segments` is the share of segments that are wrong, `products` the share of the
 * products in such a segment.
 */
export const passChance = {
  /** Every segment that is drawn is run again: none hides. */
  replay: (segments: number, drawn = DRAWN_SEGMENTS): number => (1 - segments) ** drawn,
  openings: (segments: number, products: number, drawn = DRAWN_SEGMENTS): number =>
    (1 - segments * (1 - (1 - products) ** PRODUCT_PATCHES)) ** drawn,
  /** One step of each wrong segment is faked, of so many that are neither product nor optimiser, and everything else is right. */
  fakedStep: (segments: number, others: number, drawn = DRAWN_SEGMENTS): number =>
    (1 - segments * (1 - (1 - 1 / others) ** OTHER_PATCHES)) ** drawn,
  /** Of works whose transitions do not build on each other: the share of all operations that is wrong. */
  independent: (operations: number, patches = INDEPENDENT_PATCHES): number => (1 - operations) ** patches,
} as const
