import { KEPT_TILE_BYTES } from '../params/constants.ts'
import type { Precision } from '../params/precision.ts'
import { type Challenge, fillPartOf, fillTiles, type PartKind } from './challenge.ts'
import type { PartEvidence } from './evidence.ts'
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
  if (part.kind === 'rounds' || part.kind === 'bind')
    return { ...place, perSecond: perSecond([part.rounds, 2, part.m, part.n, part.k], elapsedUs), heldBytes: 0 }
  const tiles = fillTiles(challenge.parts[fillPartOf(challenge, p)]!, device)
  // §7 counts both tiles of a pair, §8 only the one that crosses the link.
  const perPass = part.kind === 'memory' ? 2 * KEPT_TILE_BYTES : KEPT_TILE_BYTES
  const heldBytes = part.kind === 'memory' ? KEPT_TILE_BYTES * tiles : 0
  return { ...place, perSecond: perSecond([perPass, tiles, part.rounds], elapsedUs), heldBytes }
}

const perSecond = (factors: readonly number[], elapsedUs: number): number =>
  Number((factors.reduce((product, factor) => product * BigInt(factor), 1n) * 1_000_000n) / BigInt(elapsedUs))
