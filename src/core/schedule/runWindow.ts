import { type Timed, timedParts } from '../certificate/shortParts.ts'
import { countedPerSecond, figuresOf, timedDevices } from '../proof/figures.ts'
import { isPaid, kindOf, type Part } from '../proof/partKinds.ts'
import { secondsBehind } from '../proof/planPart.ts'
import { SMALLEST_SIZE } from '../proof/sizeClass.ts'
import type { PartEvidence } from '../proof/verifyPart.ts'

/** When the run that was judged took place, in the validator's monotonic time: from its first T0 to its last root. */
export interface RunWindow {
  readonly fromUs: number
  readonly untilUs: number
  /** The start of every phase: T0 of a part, and the moment when Z_0 was sent. */
  readonly startedUs: readonly number[]
  /** In some part the roots came late, and then fast, or fast and then late: the card did something else meanwhile. */
  readonly heldBack: boolean
}

/** Between the moment a cohort is let go and T0, or Z_0, lies nothing but our own work: more is another window (§8). */
export const WINDOW_SLACK_US = 500_000

/**
 * When at the earliest everything was heard that had come by a moment: at that moment, or at the end of the stall of our
 * own thread in which it lies.
 */
export type HeardBy = (atUs: number) => number

/** Our own times, by which runs of a window are measured alike. */
export interface OwnTimes {
  readonly heardBy?: HeardBy | undefined
  /** When the cohort was let go into the phase that was begun at a moment; that moment itself, where there is no cohort. */
  readonly openedBy?: ((startedUs: number) => number) | undefined
}

/** Null where no part was finished. The preset has the seconds that were asked for, which may be others than its own. */
export function windowOf(timed: Timed, t0Us: readonly number[], own: OwnTimes = {}): RunWindow | null {
  const { challenge, parts } = timed.run
  const last = parts.at(-1)
  if (!last) return null
  const rootsUs = last.devices.map(({ arrivalsUs }) => arrivalsUs.at(-1) ?? 0)
  const untilUs = t0Us[parts.length - 1]! + Math.max(0, ...rootsUs)
  const isLate = parts.some((evidence, p) => {
    const part = challenge.parts[p]!
    const plannedUs = 1e6 * secondsBehind(part)
    return pacesOf(part, evidence).some((arrivalsUs) => isHeldBack(arrivalsUs, plannedUs))
  })
  const startedUs = parts.flatMap(({ zSentUs }, p) => [t0Us[p]!, ...(zSentUs === null ? [] : [t0Us[p]! + zSentUs])])
  return { fromUs: t0Us[0]!, untilUs, startedUs, heldBack: isLate || outrunsItsStart(timed, t0Us, own) }
}

/** When the roots of each device came, from the start of each phase: memory is filled at a pace, and read at one (attack 137). */
function pacesOf(part: Part, { devices, zSentUs }: PartEvidence): readonly (readonly number[])[] {
  return devices.flatMap(({ device, arrivalsUs }) => {
    let first = 0
    return kindOf(part).phases.map((phase, i) => {
      const own = arrivalsUs.slice(first, first + phase.roots(part, device))
      first += own.length
      return own.map((atUs) => atUs - (i === 0 ? 0 : (zSentUs ?? 0)))
    })
  })
}

/** So much later than at an even pace, as a share of the part's time, the roots of an honest box may come on average. */
const LATER = 0.08

/** What is over sooner says nothing about a pace. */
const SHORTEST_PACE_US = 1_000_000

/**
 * A card that serves one box first and another afterwards shows all of its speed to one, and half of it to the other. What
 * may be late is a share of the time that was planned: a box that gets itself a longer part has no longer to wait (attack 136).
 */
export function isHeldBack(arrivalsUs: readonly number[], plannedUs = Number.POSITIVE_INFINITY): boolean {
  const lastUs = arrivalsUs.at(-1) ?? 0
  const rounds = arrivalsUs.length
  const meanUs = arrivalsUs.reduce((sum, atUs) => sum + atUs, 0) / rounds
  const evenUs = (lastUs * (rounds + 1)) / (2 * rounds)
  return lastUs >= SHORTEST_PACE_US && meanUs > evenUs + LATER * Math.min(lastUs, plannedUs)
}

/** So much more than its rate at the start a box may count for. A real card shows 1.005 (bench/fixtures). */
const MOST_OVER_START = 1.25

/**
 * Every box is at work in a part for as long as a part must last, and all of them together are no faster than their cards
 * in that time. So what counts later, or before, is bound to the rate shown then, however long a part is (attack 138). Of
 * memory the passes are bound so: what is read in that time was held in it (attack 154). It is a time of ours: one that a
 * box could put off, by its pongs or by holding its roots, would be over when another box is done (attacks 163, 164). A stall
 * of ours puts it off for all of them alike: roots that came in it are stamped at its end (attack 259).
 */
function outrunsItsStart(timed: Timed, t0Us: readonly number[], own: OwnTimes): boolean {
  const { run } = timed
  const { heardBy = asItIs, openedBy = asItIs } = own
  const counted = countedPerSecond(run, run.challenge.version)
  const figures = figuresOf(run).map(({ part }, i) => ({ part, perSecond: counted[i]! }))
  const leastOf = new Map(timedParts({ ...timed, roundTripUs: 0 }).map(({ part, leastUs }) => [part, leastUs]))
  return [...leastOf].some(([part, leastUs]) => {
    if (!isPaid(run.challenge.parts, part)) return false
    const devices = timedDevices(run, part)
    // So short a part leaves the card to another; whoever asks for less than a preset gets it judged all the same.
    if (devices.some(({ arrivalsUs }) => arrivalsUs.at(-1)! < leastUs)) return true
    const startedUs = t0Us[part]! + (run.parts[part]!.zSentUs ?? 0)
    // One moment for all boxes: a stall that begins between those of two of them would put off one alone (attack 275).
    const openedUs = openedBy(startedUs)
    const heardUs = heardBy(openedUs + leastUs) - startedUs
    const isSmall = !timed.preset.secure && run.challenge.parts[part]!.m < SMALLEST_SIZE
    const atUs = isSmall ? nextRoot(heardUs, devices) : heardUs
    const { work } = kindOf(run.challenge.parts[part]!)
    const workOf = (rounds: (arrivalsUs: readonly number[]) => number) =>
      total(devices.map(({ device, arrivalsUs }) => rounds(arrivalsUs) * work(run.challenge.parts, part, device)))
    const rate = total(figures.filter((figure) => figure.part === part).map(({ perSecond }) => perSecond))
    const underWay = Math.min(
      workOf((arrivalsUs) => underWayAt(atUs, arrivalsUs)),
      (MOST_UNDER_WAY_US * rate) / 1e6,
    )
    const shown = workOf((arrivalsUs) => rootsBy(atUs, arrivalsUs)) + underWay
    // Over the time since all were let go: while one had not begun, another had the card (attack 422).
    return rate > (MOST_OVER_START * shown * 1e6) / (atUs + startedUs - openedUs)
  })
}

const asItIs = (atUs: number): number => atUs

const total = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0)

/**
 * Below the sizes of cards, where nothing is to be gained, a box whose rounds take long, all devices together, is looked at
 * when its next root comes. A slow card has small rounds, and shows some by then, or does not count (attack 400).
 */
function nextRoot(heardUs: number, devices: ReturnType<typeof timedDevices>): number {
  const lastUs = Math.max(...devices.map(({ arrivalsUs }) => arrivalsUs.at(-1)!))
  const isSlow = lastUs > SLOW_ROUND_US * total(devices.map(({ arrivalsUs }) => arrivalsUs.length))
  const next = devices.flatMap(({ arrivalsUs }) => arrivalsUs.find((us) => us >= heardUs) ?? [])
  return isSlow && next.length > 0 ? Math.min(...next) : heardUs
}

/**
 * Of rounds under way a box has done by then what an even pace has, and at most so much as it counts for in this time: none
 * of them need have been begun, and of many devices that take turns on one card all are under way (attack 408).
 */
const MOST_UNDER_WAY_US = 50_000

const rootsBy = (atUs: number, arrivalsUs: readonly number[]): number => arrivalsUs.filter((us) => us <= atUs).length

function underWayAt(atUs: number, arrivalsUs: readonly number[]): number {
  const roots = rootsBy(atUs, arrivalsUs)
  const before = arrivalsUs[roots - 1] ?? 0
  return (atUs - before) / ((arrivalsUs[roots] ?? Number.POSITIVE_INFINITY) - before)
}

/** Longer rounds than this are slow. */
const SLOW_ROUND_US = 100_000

/**
 * §8: whether a run counts for its cohort: each of its phases began when the cohort was let go into it. A run begun anew did
 * not. So a phase that two runs have in common was under way in both at once, for all of the shorter but the slack.
 */
export function isInWindow({ startedUs, heldBack }: RunWindow, openedUs: readonly (number | null)[]): boolean {
  if (heldBack) return false
  return startedUs.every((atUs, phase) => {
    const opened = openedUs[phase] ?? null
    return opened !== null && atUs >= opened && atUs - opened <= WINDOW_SLACK_US
  })
}
