/** Most boxes that are measured in one window. */
export const LARGEST_COHORT = 1024
