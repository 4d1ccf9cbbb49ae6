import { setImmediate } from 'node:timers/promises'
import { rangeVerifier } from '../../core/proof/verifyPart.ts'
import type { OpeningChecker } from '../../ports/openingChecker.ts'
import { chooseEngine, openEngine } from './engineStart.ts'
import { firstWrong } from './firstWrong.ts'

/**
 * Verifies in this thread, for a program that has one core and nothing else to do: another thread would cost its start and
 * bring nothing. Between ranges the program hears a signal and shows how far it is.
 */
export async function openOwnThreadChecker(): Promise<OpeningChecker> {
  const engine = await openEngine(await chooseEngine())
  return {
    async check(run, ranges, onDone, signal) {
      const verify = rangeVerifier(run, engine)
      for (const range of ranges) {
        await setImmediate()
        signal.throwIfAborted()
        const reason = firstWrong([verify(range)], 1)
        if (reason) return reason
        onDone(range.to - range.from)
      }
      return null
    },
    close: async () => {},
  }
}
