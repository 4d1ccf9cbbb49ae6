import { KEPT_TILE_BYTES, TILE } from '../params/constants.ts'
import type { Precision } from '../params/precision.ts'
import type { Preset } from '../params/presets.ts'
import type { DeviceTask } from './deviceTask.ts'
import type { PlannedPart } from './partKinds.ts'
import type { PlanInputs, Timings } from './planPart.ts'
import type { Draw } from './query.ts'
import type { RejectReason } from './reasons.ts'
import type { DeviceClass } from './sizeClass.ts'
import type { TileEngine, TileRequest } from './tileEngine.ts'
import type { DeviceEvidence, Run } from './verifyPart.ts'

/** One question of a challenge (§4.1) before its nonce is drawn. Every number in it is the validator's. */
export interface PartShape<K extends string = string, P extends Precision = Precision> {
  readonly kind: K
  readonly precision: P
  readonly m: number
  readonly n: number
  readonly k: number
  /** T, or the number of passes P where the device passes over a fill. */
  readonly rounds: number
  readonly openings: number
  /** Bit d is set when device d takes part. */
  readonly mask: number
  readonly limitMs: number
  readonly openLimitMs: number
  /** G_d, one per device of the challenge; 0 unless the part fills memory. */
  readonly kept: readonly number[]
}

/** A stretch of a part that begins with a word of the validator and ends with the last of its roots. */
export interface Phase {
  readonly name: 'rounds' | 'passes'
  roots(part: PartShape, device: number): number
  /** `word` is what was sent to all devices, S_p or Z_0, and `seed` follows from it for this one. */
  task(part: PartShape, device: number, word: Uint8Array, seed: Uint8Array): DeviceTask
  /** What a calibration learns from a root: the time of so many units of what the key names. */
  timing(part: PartShape, device: number): { readonly key: string; readonly units: number }
}

/** What a part is for in a judgement: the name of its kind, where that says it all. */
export type PartRole = 'peak' | 'sustained' | 'alone' | 'partial' | PlannedPart['kind']

/** One device's answer in one part, with what it takes to check its openings. */
export interface Answered {
  readonly run: Run
  readonly x: Uint8Array
  readonly p: number
  readonly evidence: DeviceEvidence
  readonly engine: TileEngine
}

export type OpeningVerifier = (draw: Draw, path: Uint8Array) => RejectReason['code'] | null

type Parts = readonly PartShape[]

/**
 * All there is to know about a kind of part. A new one is a file in parts/ and a line in partKinds.ts.
 * `parts` and `p` are the parts of a challenge or plan and the place of the one in question.
 */
export interface PartKind<S extends PartShape = PartShape> {
  readonly name: S['kind']
  readonly precisions: readonly S['precision'][]
  /** §4.0: k for a class of devices. */
  k(preset: Preset, device: DeviceClass, precision: Precision): number
  /** Why the part cannot be asked after those before it, beyond the bounds that all parts share. */
  refuse?(parts: Parts, p: number): string | null
  /** The first begins with S_p; a second, where there is one, with Z_0, and then only its roots are timed. */
  readonly phases: readonly [Phase] | readonly [Phase, Phase]
  /** The part whose fill is read, which may be the part itself; null where no memory is filled. */
  fill(parts: Parts, p: number): number | null
  /** Tiles that an opening is drawn from (§4.4), besides the rounds or passes. */
  tiles(parts: Parts, p: number, device: number): number
  openingBytes(parts: Parts, p: number, device: number): number
  verifier(answered: Answered): OpeningVerifier
  /** Operations, or bytes, that one timed root stands for. */
  work(parts: Parts, p: number, device: number): number
  /** How long a part of all devices must last; 0 where it need not. */
  leastUs(role: PartRole, preset: Preset, roundTripUs: number): number
  /** Where the name of the kind does not say it all. */
  role?(parts: Parts, p: number): PartRole
  label?(part: PartShape): string
  /** A whole run may do without it: nothing is paid for it, or inferred from it. */
  readonly isOptional?: boolean
  /** Its parts of a run, by what a calibration showed; without that, its parts of the calibration. */
  plan(inputs: PlanInputs, size: (precision: Precision) => number, timings: Timings | null): (S | PlannedPart)[]
}

export const inMask = (mask: number, device: number): boolean => Math.floor(mask / 2 ** device) % 2 === 1

/** The devices of a part, ascending. */
export const devicesOf = (part: Pick<PartShape, 'mask' | 'kept'>): number[] =>
  part.kept.flatMap((_, device) => (inMask(part.mask, device) ? [device] : []))

export const isWhole = ({ mask, kept }: Pick<PartShape, 'mask' | 'kept'>): boolean => mask === 2 ** kept.length - 1

/** Tiles of one product. */
export const tilesOf = (part: Pick<PartShape, 'm' | 'n'>): number => (part.m / TILE) * (part.n / TILE)

/** W of device d: tiles over the whole fill (§7). */
export const fillTiles = (fill: PartShape, device: number): number => fill.kept[device]! * tilesOf(fill)

export const fillBytes = (fill: PartShape, device: number): number => fillTiles(fill, device) * KEPT_TILE_BYTES

/** A tile of a round of the part, by its number. */
export function tileOf({ precision, n, k }: PartShape, seed: Uint8Array, tile: number): TileRequest {
  const columns = n / TILE
  return { seed, precision, k, tileRow: Math.floor(tile / columns), tileColumn: tile % columns }
}
