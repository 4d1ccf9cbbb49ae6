import { KEPT_TILE_BYTES } from '../params/constants.ts'
import type { Precision } from '../params/precision.ts'
import { type Challenge, fillBytes, fillPartOf, fillTiles, type PartKind } from './challenge.ts'
import type { DeviceEvidence, PartEvidence } from './evidence.ts'
import type { Run } from './verifyPart.ts'

/** What one device showed in one part, in whole numbers, so that every verifier gets the same digits. */
export interface Figure {
  readonly part: number
  readonly kind: PartKind
  readonly precision: Precision
  readonly device: number
  /** §4.3, §7: from before S (or Z_0) was written until the last root was read. Nothing is subtracted. */
  readonly elapsedUs: number
  /** Operations a second in rounds and bind parts, bytes a second in memory and link parts; rounded down. */
  readonly perSecond: number
  /** Bytes held through the passes of a memory part, otherwise 0. */
  readonly heldBytes: number
}

/** Every figure of a run, part by part, device by device. */
export function figuresOf({ challenge, parts }: Run): Figure[] {
  return parts.flatMap((evidence, part) =>
    evidence.devices.map(({ device }) => figureOf(challenge, part, evidence, device)),
  )
}

function figureOf(challenge: Challenge, p: number, evidence: PartEvidence, device: number): Figure {
  const part = challenge.parts[p]!
  const arrivals = evidence.devices.find((candidate) => candidate.device === device)!.arrivalsUs
  const elapsedUs = Math.max(1, arrivals.at(-1)! - (evidence.zSentUs ?? 0))
  const place = { part: p, kind: part.kind, precision: part.precision, device, elapsedUs }
  const heldBytes = part.kind === 'memory' ? fillBytes(part, device) : 0
  return { ...place, perSecond: perSecond(challenge, place, part.rounds, elapsedUs), heldBytes }
}

/** C3: the largest count of a certificate. A faster device is told as this, which is the least it showed. */
const MOST_PER_SECOND = BigInt(Number.MAX_SAFE_INTEGER)

/** What so many rounds or passes of a device come to in a second, rounded down. */
function perSecond(
  challenge: Challenge,
  { part: p, device }: Pick<Figure, 'part' | 'device'>,
  rounds: number,
  elapsedUs: number,
): number {
  const total = workOfRound(challenge, p, device).reduce((product, factor) => product * BigInt(factor), BigInt(rounds))
  const exact = (total * 1_000_000n) / BigInt(elapsedUs)
  return Number(exact > MOST_PER_SECOND ? MOST_PER_SECOND : exact)
}

function workOfRound(challenge: Challenge, p: number, device: number): readonly number[] {
  const part = challenge.parts[p]!
  if (part.kind === 'rounds' || part.kind === 'bind') return [2, part.m, part.n, part.k]
  const tiles = fillTiles(challenge.parts[fillPartOf(challenge, p)]!, device)
  // §7 counts both tiles of a pair, §8 only the one that crosses the link.
  return [part.kind === 'memory' ? 2 * KEPT_TILE_BYTES : KEPT_TILE_BYTES, tiles]
}

/**
 * §4.3, attack 48: what counts of a rate where several devices took part. One card could serve their chains one after
 * the other and be counted once for the first, half for the second and so on. So no device counts for more than it had
 * shown, the round under way included, when the first of them was done; a steady device loses nothing by that.
 */
export function countedPerSecond({ challenge, parts }: Run, figure: Figure): number {
  const part = challenge.parts[figure.part]!
  const { devices, zSentUs } = parts[figure.part]!
  const timedOf = ({ device, arrivalsUs }: DeviceEvidence) =>
    arrivalsUs.slice(part.kind === 'memory' ? part.kept[device]! : 0).map((arrival) => arrival - (zSentUs ?? 0))
  const firstDoneUs = Math.max(1, Math.min(...devices.map((device) => timedOf(device).at(-1)!)))
  const own = timedOf(devices.find(({ device }) => device === figure.device)!)
  const shown = Math.min(part.rounds, own.filter((arrival) => arrival <= firstDoneUs).length + 1)
  return Math.min(figure.perSecond, perSecond(challenge, figure, shown, firstDoneUs))
}
