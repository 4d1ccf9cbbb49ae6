/** Products that a validator asks a box for: rows of this length, 2^depth chunks. */
export const CHECK_K = 1_024
export const SHALLOWEST_CHECK = 2
export const DEEPEST_CHECK = 10
