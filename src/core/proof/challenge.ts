import { concatBytes, u32le } from '../bytes/bytes.ts'
import { ByteReader, DecodeError } from '../bytes/reader.ts'
import { taggedHash } from '../bytes/sha256.ts'
import {
  KEPT_TILE_BYTES,
  MAX_DEVICES,
  MAX_K,
  MAX_KEPT,
  MAX_OPENINGS,
  MAX_PARTS,
  MAX_SIZE,
  type ProtocolVersion,
  TILE,
} from '../params/constants.ts'
import { PRECISION_NAMES, PRECISIONS, type Precision } from '../params/precision.ts'

export const PART_KINDS = ['rounds', 'memory', 'bind', 'link'] as const
export type PartKind = (typeof PART_KINDS)[number]

/** One question of a challenge (§4.1). Every number in it is the validator's. */
export interface Part {
  readonly kind: PartKind
  readonly precision: Precision
  readonly m: number
  readonly n: number
  readonly k: number
  /** T, or the number of passes P in memory and link parts. */
  readonly rounds: number
  readonly openings: number
  /** Bit d is set when device d takes part. */
  readonly mask: number
  readonly limitMs: number
  readonly openLimitMs: number
  /** G_d, one per device of the challenge; 0 except in memory parts. */
  readonly kept: readonly number[]
  readonly nonceHash: Uint8Array
}

export interface Challenge {
  readonly version: ProtocolVersion
  readonly runId: Uint8Array
  readonly validatorKey: Uint8Array
  readonly proverKey: Uint8Array
  readonly deviceCount: number
  readonly parts: readonly Part[]
}

export function encodeChallenge(challenge: Challenge): Uint8Array {
  return concatBytes(
    Uint8Array.of(challenge.version),
    challenge.runId,
    challenge.validatorKey,
    challenge.proverKey,
    u32le(challenge.deviceCount),
    u32le(challenge.parts.length),
    ...challenge.parts.map(encodePart),
  )
}

function encodePart(part: Part): Uint8Array {
  const numbers = [part.m, part.n, part.k, part.rounds, part.openings, part.mask, part.limitMs, part.openLimitMs]
  return concatBytes(
    Uint8Array.of(PART_KINDS.indexOf(part.kind), PRECISIONS[part.precision].code),
    ...numbers.map(u32le),
    ...part.kept.map(u32le),
    part.nonceHash,
  )
}

/** X (§4.1): every seed and every signature of a run is bound to it. */
export const challengeHash = (canonical: Uint8Array): Uint8Array => taggedHash('tsp1/challenge', canonical)

/** The canonical bytes back to a challenge, every bound of §4 checked; throws DecodeError. */
export function decodeChallenge(bytes: Uint8Array): Challenge {
  const reader = new ByteReader(bytes)
  const version = reader.u8('version')
  if (version !== 1 && version !== 2) throw new DecodeError(`version: 1 or 2 expected, got ${version}`)
  const runId = reader.bytes(16, 'run id')
  const validatorKey = reader.bytes(32, 'validator key')
  const proverKey = reader.bytes(32, 'prover key')
  const deviceCount = bounded(reader.u32('device count'), 1, MAX_DEVICES, 'device count')
  const partCount = bounded(reader.u32('part count'), 1, MAX_PARTS, 'part count')
  const parts: Part[] = []
  for (let p = 0; p < partCount; p++) parts.push(decodePart(reader, deviceCount, p, parts))
  reader.end('challenge')
  return { version, runId, validatorKey, proverKey, deviceCount, parts }
}

function decodePart(reader: ByteReader, deviceCount: number, p: number, before: readonly Part[]): Part {
  const name = (field: string) => `part ${p} ${field}`
  const kind = PART_KINDS[reader.u8(name('kind'))]
  const precision = PRECISION_NAMES[reader.u8(name('precision'))]
  if (!kind || !precision) throw new DecodeError(`${name('kind or precision')}: unknown`)
  const u32 = (field: string, low: number, high: number) => bounded(reader.u32(name(field)), low, high, name(field))
  const m = powerOfTwo(u32('m', TILE, MAX_SIZE), name('m'))
  const n = powerOfTwo(u32('n', TILE, MAX_SIZE), name('n'))
  if (m !== n) throw new DecodeError(`${name('n')}: ${m} expected as m, got ${n}`)
  const k = powerOfTwo(u32('k', TILE, MAX_K), name('k'))
  const rounds = u32('rounds', 1, 2 ** 24)
  const openings = u32('openings', 1, MAX_OPENINGS)
  const mask = u32('mask', 1, 2 ** deviceCount - 1)
  const limitMs = u32('limit', 1, 2 ** 31)
  const openLimitMs = u32('opening limit', 1, 2 ** 31)
  const kept = Array.from({ length: deviceCount }, () => reader.u32(name('kept')))
  const part = { kind, precision, m, n, k, rounds, openings, mask, limitMs, openLimitMs, kept }
  ensureMemoryShape(part, name, before)
  return { ...part, nonceHash: reader.bytes(32, name('nonce hash')) }
}

/** §7, §8: memory, bind and link parts are int8; only memory keeps rounds; a link part needs a memory part of all devices. */
function ensureMemoryShape(
  part: Omit<Part, 'nonceHash'>,
  name: (field: string) => string,
  before: readonly Part[],
): void {
  if (part.kind !== 'rounds' && part.precision !== 'int8') throw new DecodeError(`${name('precision')}: int8 expected`)
  part.kept.forEach((kept, device) => {
    if (kept > MAX_KEPT) throw new DecodeError(`${name('kept')}: at most ${MAX_KEPT} expected, got ${kept}`)
    const asked = part.kind === 'memory' && inMask(part.mask, device)
    if (asked !== kept > 0) throw new DecodeError(`${name('kept')}: wrong for device ${device}`)
    if (kept * tilesOf(part) >= 2 ** 32) throw new DecodeError(`${name('kept')}: 2^32 tiles or more`)
  })
  const all = 2 ** part.kept.length - 1
  const fill = before.findLast((earlier) => earlier.kind === 'memory')
  if (part.kind === 'link' && (part.mask !== all || part.kept.length < 2 || !fill || !sameProduct(fill, part)))
    throw new DecodeError(`${name('link')}: needs a memory part of all of several devices before it`)
}

const sameProduct = (a: Omit<Part, 'nonceHash'>, b: Omit<Part, 'nonceHash'>): boolean =>
  a.mask === b.mask && a.m === b.m && a.n === b.n && a.k === b.k

function bounded(value: number, low: number, high: number, what: string): number {
  if (value < low || value > high) throw new DecodeError(`${what}: ${low} to ${high} expected, got ${value}`)
  return value
}

function powerOfTwo(value: number, what: string): number {
  if ((value & (value - 1)) !== 0) throw new DecodeError(`${what}: power of two expected, got ${value}`)
  return value
}

export const inMask = (mask: number, device: number): boolean => Math.floor(mask / 2 ** device) % 2 === 1

/** The devices of a part, ascending. */
export const devicesOf = (part: Pick<Part, 'mask' | 'kept'>): number[] =>
  part.kept.flatMap((_, device) => (inMask(part.mask, device) ? [device] : []))

/** Tiles of one product. */
export const tilesOf = (part: Pick<Part, 'm' | 'n'>): number => (part.m / TILE) * (part.n / TILE)

/** The memory part whose fill part p reads: itself, or the last one before a link part. */
export function fillPartOf(challenge: Pick<Challenge, 'parts'>, p: number): number {
  if (challenge.parts[p]!.kind === 'memory') return p
  return challenge.parts.findLastIndex((part, index) => index < p && part.kind === 'memory')
}

/** W of device d: tiles over the whole fill (§7). */
export const fillTiles = (fill: Part, device: number): number => fill.kept[device]! * tilesOf(fill)

export const fillBytes = (fill: Part, device: number): number => fillTiles(fill, device) * KEPT_TILE_BYTES

/** How many roots device d owes in part p. */
export function rootCount(part: Part, device: number): number {
  return (part.kind === 'memory' ? part.kept[device]! : 0) + part.rounds
}

/** What the draws of §4.4 choose from: rounds and tiles, or passes and tiles of the fill. */
export function drawSpace(
  challenge: Pick<Challenge, 'parts'>,
  p: number,
  device: number,
): { rounds: number; tiles: number } {
  const part = challenge.parts[p]!
  if (part.kind === 'rounds' || part.kind === 'bind') return { rounds: part.rounds, tiles: tilesOf(part) }
  return { rounds: part.rounds, tiles: fillTiles(challenge.parts[fillPartOf(challenge, p)]!, device) }
}

/** Bytes of one opening: its siblings, and in memory and link parts those of the fill too (§7). */
export function openingBytes(challenge: Pick<Challenge, 'parts'>, p: number, device: number): number {
  const part = challenge.parts[p]!
  if (part.kind === 'rounds' || part.kind === 'bind') return 32 * Math.log2(tilesOf(part))
  const fill = challenge.parts[fillPartOf(challenge, p)]!
  const inRound = Math.log2(tilesOf(fill))
  return 32 * (inRound + Math.ceil(Math.log2(fill.kept[device]!)) + inRound)
}
