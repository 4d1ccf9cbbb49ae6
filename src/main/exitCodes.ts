/** What scripts can trust: every command ends with one of these. */
export const EXIT = { genuine: 0, rejected: 1, usage: 2, fault: 3 } as const
