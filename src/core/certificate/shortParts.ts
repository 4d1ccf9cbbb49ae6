import type { Preset } from '../params/presets.ts'
import { figuresOf } from '../proof/figures.ts'
import { isWhole } from '../proof/part.ts'
import { comparedWith, kindOf, type PlannedPart, partRole } from '../proof/partKinds.ts'
import { boundedRounds, partKey, type Timings } from '../proof/planPart.ts'
import type { Run } from '../proof/verifyPart.ts'

/** A run, the preset it is judged by and the shortest round trip measured before it. */
export interface Timed {
  readonly run: Run
  readonly preset: Preset
  readonly roundTripUs: number
}

/** §4.0, §7: every part that must last a while, with how long it did. */
export function timedParts(timed: Timed) {
  return figuresOf(timed.run).flatMap(({ part, device, elapsedUs }) => {
    const leastUs = leastMicroseconds(timed, part)
    return leastUs > 0 ? [{ part, device, leastUs, elapsedUs }] : []
  })
}

/** Parts that were over too soon; a burst says nothing about a sustained rate. */
export const shortParts = (timed: Timed) => timedParts(timed).filter(({ leastUs, elapsedUs }) => elapsedUs < leastUs)

type Times = Pick<Preset, 'partSeconds' | 'sustainedSeconds'>

/** The preset with the seconds that were asked for, which may be more than its own; with a fixed number of rounds it times nothing. */
export const askedPreset = <P extends Preset>(preset: P, { partSeconds, sustainedSeconds }: Times): P =>
  preset.fixedRounds > 0
    ? preset
    : {
        ...preset,
        partSeconds: Math.max(partSeconds, preset.partSeconds),
        sustainedSeconds: Math.max(sustainedSeconds, preset.sustainedSeconds),
      }

/** §4.3: parts of too few rounds or passes, of which one root more or less would be much of the rate. */
export const fewRounds = ({ leastRounds }: Preset, { challenge }: Run) =>
  challenge.parts.flatMap(({ rounds }, part) =>
    rounds < leastRounds ? [{ part, expected: `${leastRounds} rounds`, got: rounds }] : [],
  )

function leastMicroseconds({ preset, run: { challenge }, roundTripUs }: Timed, p: number): number {
  const part = challenge.parts[p]!
  return isWhole(part) ? kindOf(part).leastUs(partRole(challenge.parts, p), preset, roundTripUs) : 0
}

/** A calibration may read a little slow. */
const NEARLY = 1.1

/**
 * Whether a part would be over too soon for the fastest device though it has all the rounds there may be, because a much
 * slower one beside it makes them small: nothing that the box did (attack 516).
 */
export function isCutByRoots(plan: readonly PlannedPart[], timings: Timings, preset: Preset): boolean {
  return plan.some((part, p) => {
    const hasMost = isWhole(part) && part.rounds === boundedRounds(Number.POSITIVE_INFINITY, part.kept.length)
    const fastestUs = 1e6 * (timings.get(partKey(part))?.fastest ?? Number.POSITIVE_INFINITY)
    return hasMost && part.rounds * fastestUs < NEARLY * kindOf(part).leastUs(partRole(plan, p), preset, 0)
  })
}

/** A box that was busy in the first run and is idle in the second may be twice as fast, and still be honest. */
const LENGTHENED = 3

/**
 * The plan with more rounds in every timed part, aiming well past the least: the parts that were long enough may not be
 * again. Parts of one device grow with the part that they are compared with.
 */
export function lengthen(plan: readonly PlannedPart[], timed: ReturnType<typeof timedParts>): PlannedPart[] {
  return plan.map((part, p) => {
    const compared = comparedWith(plan, p)
    const factors = timed
      .filter((entry) => entry.part === compared.part)
      .map(({ leastUs, elapsedUs }) => (LENGTHENED * leastUs) / elapsedUs)
    return { ...part, rounds: boundedRounds(Math.ceil(part.rounds * Math.max(1, ...factors)), part.kept.length) }
  })
}
