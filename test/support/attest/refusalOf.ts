import { type Refusal, Refused } from '../../../src/core/attest/refusals.ts'

type Plain = Omit<Refusal, 'meaning' | 'nextStep'>

/** How work was refused, without its words, or null when it was not. */
export async function refusalOf(work: Promise<unknown> | (() => unknown)): Promise<Plain | null> {
  try {
    await (typeof work === 'function' ? work() : work)
    return null
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    const { meaning, nextStep, ...plain } = error.refusal
    return plain
  }
}
