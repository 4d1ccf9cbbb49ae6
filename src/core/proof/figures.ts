import * as z from 'zod'
import { count } from '../bytes/fields.ts'
import type { ProtocolVersion } from '../params/constants.ts'
import { PRECISION_NAMES } from '../params/precision.ts'
import type { Challenge } from './challenge.ts'
import { fillBytes } from './part.ts'
import { KINDS_OF_VERSION_1, kindOf, PART_KINDS, untimedRoots } from './partKinds.ts'
import type { Run } from './verifyPart.ts'

/** What one device showed in one part, in whole numbers, so that every verifier gets the same digits. */
export const figureSchema = z.strictObject({
  part: count,
  kind: z.enum(PART_KINDS.map(({ name }) => name)),
  precision: z.enum(PRECISION_NAMES),
  device: count,
  /** §4.3, §7: from before S (or Z_0) was written until the last root was read. Nothing is subtracted. */
  elapsedUs: count,
  /** Operations a second, or bytes a second where a fill is read; rounded down. */
  perSecond: count,
  /** Bytes of the part's own fill, otherwise 0. */
  heldBytes: count,
})
export type Figure = Readonly<z.infer<typeof figureSchema>>

export const figureVersion1 = figureSchema.extend({ kind: z.enum(KINDS_OF_VERSION_1.map(({ name }) => name)) })

/** Every figure of a run, part by part, device by device. */
export function figuresOf({ challenge, parts }: Run): Figure[] {
  return parts.flatMap(({ devices, zSentUs }, p) => {
    const part = challenge.parts[p]!
    const fills = kindOf(part).fill(challenge.parts, p) === p
    return devices.map(({ device, arrivalsUs }) => {
      const elapsedUs = Math.max(1, arrivalsUs.at(-1)! - (zSentUs ?? 0))
      const place = { part: p, kind: part.kind, precision: part.precision, device, elapsedUs }
      const heldBytes = fills ? fillBytes(part, device) : 0
      return { ...place, perSecond: perSecond(challenge, place, part.rounds, elapsedUs), heldBytes }
    })
  })
}

type Place = Pick<Figure, 'part' | 'device'>

/** C3: the largest count of a certificate. A faster device is told as this, which is the least it showed. */
const MOST_PER_SECOND = BigInt(Number.MAX_SAFE_INTEGER)

/** What so many rounds or passes of a device come to in a second, rounded down. */
function perSecond(challenge: Challenge, place: Place, rounds: number, elapsedUs: number): number {
  const exact = (workOf(challenge, place, rounds) * 1_000_000n) / BigInt(elapsedUs)
  return Number(exact > MOST_PER_SECOND ? MOST_PER_SECOND : exact)
}

/** Operations of so many rounds, or bytes of so many passes. */
function workOf(challenge: Challenge, { part: p, device }: Place, rounds: number): bigint {
  return BigInt(rounds) * BigInt(kindOf(challenge.parts[p]!).work(challenge.parts, p, device))
}

/** §4.3: what counts of each figure of a run where several devices took part, in the order of `figuresOf`. */
export function countedPerSecond(run: Run, rules: ProtocolVersion): number[] {
  const counted = rules === 1 ? countedByVersion1 : countedByVersion2
  return run.parts.flatMap((_, part) => counted(run, part))
}

/** Arrivals of the roots that are timed, in microseconds since S_p, or since Z_0 where there is one. */
export function timedDevices({ challenge, parts }: Run, p: number) {
  const part = challenge.parts[p]!
  const { devices, zSentUs } = parts[p]!
  return devices.map(({ device, arrivalsUs }) => ({
    device,
    arrivalsUs: arrivalsUs.slice(untimedRoots(part, device)).map((arrival) => arrival - (zSentUs ?? 0)),
  }))
}

/** No device counts for more than it had shown when the first was done, the round under way included (attack 48). */
function countedByVersion1(run: Run, p: number): number[] {
  const { challenge } = run
  const devices = timedDevices(run, p)
  const firstDoneUs = Math.max(1, Math.min(...devices.map(({ arrivalsUs }) => arrivalsUs.at(-1)!)))
  const { rounds } = challenge.parts[p]!
  return devices.map(({ device, arrivalsUs }) => {
    const place = { part: p, device }
    const shown = Math.min(rounds, arrivalsUs.filter((arrival) => arrival <= firstDoneUs).length + 1)
    const whole = perSecond(challenge, place, rounds, Math.max(1, arrivalsUs.at(-1)!))
    return Math.min(whole, perSecond(challenge, place, shown, firstDoneUs))
  })
}

/**
 * Attacks 48 and 71: whatever serves the series has done all the work that has arrived, so at any instant their sum over
 * the time so far is at most what it can do. The instant with the largest sum counts, for all devices the same. It is one
 * from half the time of the device that was done first: before that a burst would do, and a slower device that is still
 * at work when the others are done must not cost them anything.
 */
function countedByVersion2(run: Run, p: number): number[] {
  const { challenge } = run
  const devices = timedDevices(run, p)
  const firstDoneUs = Math.min(...devices.map(({ arrivalsUs }) => arrivalsUs.at(-1)!))
  const works = devices.map(({ device }) => workOf(challenge, { part: p, device }, 1))
  const arrivals = devices
    .flatMap(({ arrivalsUs }, place) => arrivalsUs.map((atUs) => ({ atUs: Math.max(1, atUs), place })))
    .sort((a, b) => a.atUs - b.atUs)
  let arrived = 0n
  let best = { work: 0n, atUs: 1 }
  for (const [i, { atUs, place }] of arrivals.entries()) {
    arrived += works[place]!
    // Roots of one instant count together; of two instants that show the same the earlier one is taken.
    if (arrivals[i + 1]?.atUs === atUs || 2 * atUs < firstDoneUs) continue
    if (arrived * BigInt(best.atUs) > best.work * BigInt(atUs)) best = { work: arrived, atUs }
  }
  return devices.map(({ device, arrivalsUs }) => {
    const rounds = arrivalsUs.filter((arrival) => arrival <= best.atUs).length
    return perSecond(challenge, { part: p, device }, rounds, best.atUs)
  })
}
