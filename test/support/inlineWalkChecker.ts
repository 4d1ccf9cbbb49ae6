import { chooseRounds, openRounds } from '../../src/drivers/host/hostRounds.ts'
import { holds } from '../../src/drivers/host/hostWalk.ts'
import type { WalkChecker } from '../../src/ports/walkChecker.ts'

export const rounds = await openRounds(await chooseRounds())

/** Walks lanes again in this thread. */
export const inlineWalkChecker: WalkChecker = {
  async check(stretches) {
    const wrong = stretches.findIndex((stretch) => !holds(stretch, rounds))
    return wrong < 0 ? null : wrong
  },
}
