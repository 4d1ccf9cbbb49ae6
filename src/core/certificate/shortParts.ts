import { SHORTEST_SHARE } from '../params/constants.ts'
import type { Preset } from '../params/presets.ts'
import { type Challenge, devicesOf } from '../proof/challenge.ts'
import { figuresOf } from '../proof/figures.ts'
import { boundedRounds, type PlannedPart } from '../proof/planRun.ts'
import type { Run } from '../proof/verifyPart.ts'
import { partRole } from './partRole.ts'

/** §7: the timed passes of a secure preset last at least this long. */
const LEAST_PASS_SECONDS = 2

export interface TimedPart {
  readonly part: number
  readonly device: number
  readonly leastUs: number
  readonly elapsedUs: number
}

/** §4.0, §7: every part that must last a while, with how long it did. */
export function timedParts(preset: Preset, run: Run): TimedPart[] {
  return figuresOf(run).flatMap(({ part, device, elapsedUs }) => {
    const leastUs = leastMicroseconds(preset, run.challenge, part)
    return leastUs > 0 ? [{ part, device, leastUs, elapsedUs }] : []
  })
}

/** Parts that were over too soon; a burst says nothing about a sustained rate. */
export const shortParts = (preset: Preset, run: Run): TimedPart[] =>
  timedParts(preset, run).filter(({ leastUs, elapsedUs }) => elapsedUs < leastUs)

function leastMicroseconds(preset: Preset, challenge: Challenge, p: number): number {
  const role = partRole(challenge, p)
  if (devicesOf(challenge.parts[p]!).length < challenge.deviceCount || role === 'link') return 0
  if (role === 'memory') return preset.passSeconds > 0 ? LEAST_PASS_SECONDS * 1e6 : 0
  return SHORTEST_SHARE * 1e6 * (role === 'sustained' ? preset.sustainedSeconds : preset.partSeconds)
}

/** A box that was busy in the first run and is idle in the second may be twice as fast, and is honest all the same. */
const LENGTHENED = 3

/** The plan with more rounds in every timed part, aiming well past the least: the parts that were long enough may not be again. */
export function lengthen(plan: readonly PlannedPart[], timed: readonly TimedPart[]): PlannedPart[] {
  return plan.map((part, p) => {
    const factors = timed
      .filter((entry) => entry.part === p)
      .map(({ leastUs, elapsedUs }) => (LENGTHENED * leastUs) / elapsedUs)
    return { ...part, rounds: boundedRounds(Math.ceil(part.rounds * Math.max(1, ...factors)), part.kept.length) }
  })
}
