import { test } from 'vitest'

/** A test that cannot run on this machine, with the reason beside its name in every report. */
export const skipWith = (what: string, why: string): void => test(what, ({ skip }) => skip(why))
