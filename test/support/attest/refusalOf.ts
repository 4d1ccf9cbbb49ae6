import { type Refusal, Refused } from '../../../src/core/attest/refusals.ts'

/** How work was refused, or null when it was not. */
export async function refusalOf(work: Promise<unknown> | (() => unknown)): Promise<Refusal | null> {
  try {
    await (typeof work === 'function' ? work() : work)
    return null
  } catch (error) {
    if (error instanceof Refused) return error.refusal
    throw error
  }
}
