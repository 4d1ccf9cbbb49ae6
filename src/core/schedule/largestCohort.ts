/** Most boxes of one cohort. A box can owe each of the others a window, and is remembered beside each of them. */
export const LARGEST_COHORT = 1024
