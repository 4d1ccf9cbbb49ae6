/** Products that a validator asks a box for: rows of this length, 2^depth chunks. */
export const CHECK_K = 1_024
export const DEEPEST_CHECK = 10
/** Depths of products that are not counted, and show how large a round may be. */
export const SIZING = [0, 2, 4, 6, 8, DEEPEST_CHECK]
/** How long that may take, before the window begins for all boxes. */
export const GATE_MS = 1_500
/** The window: what is there by its end counts, and is divided by all of it. */
export const WINDOW_MS = 1_000
/** Rounds of one box in a window, and how many are asked for ahead: the next one is there when a box has done one. */
export const MOST_ROUNDS = 32
export const LANES = 2
