import { holds, laneStart } from '../../src/drivers/host/hostWalk.ts'
import type { WalkChecker } from '../../src/ports/walkChecker.ts'

/** Walks lanes again in this thread. */
export const inlineWalkChecker: WalkChecker = {
  start: laneStart,
  async check(stretches) {
    const wrong = stretches.findIndex((stretch) => !holds(stretch))
    return wrong < 0 ? null : wrong
  },
}
