import type { Clock } from '../../../ports/clock.ts'

/** How long a box where our prover did not start waits for another to show that it can. */
const WAIT_MS = 60_000

/** Where our prover starts and where it does not: a release that starts nowhere is broken, and no box is to blame for it. */
export function watchRelease(clock: Clock) {
  /** The last round in which a box has started our prover, and the boxes where it did not start since. */
  let startedRound = -1
  const notStarted = new Set<string>()
  return {
    started(round: number): void {
      startedRound = Math.max(startedRound, round)
      notStarted.clear()
    },
    /**
     * After it did not start on this box: whether it starts anywhere in this round. While `othersRun`, those are waited
     * for. One box alone cannot say that the release is broken, or that box would never fail.
     */
    async runs(boxId: string, round: number, othersRun: () => boolean, signal: AbortSignal): Promise<boolean> {
      notStarted.add(boxId)
      const untilUs = clock.monotonicUs() + WAIT_MS * 1000
      while (startedRound < round && othersRun() && clock.monotonicUs() < untilUs) await clock.sleep(250, signal)
      return startedRound >= round || notStarted.size < 2
    },
  }
}
