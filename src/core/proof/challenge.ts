import { ascii, concatBytes, u32le } from '../bytes/bytes.ts'
import { ByteReader, DecodeError } from '../bytes/reader.ts'
import { taggedHash } from '../bytes/sha256.ts'
import {
  MAX_DEVICES,
  MAX_K,
  MAX_KEPT,
  MAX_OPENINGS,
  MAX_PARTS,
  MAX_SIZE,
  type ProtocolVersion,
  TILE,
} from '../params/constants.ts'
import { PRECISION_NAMES, PRECISIONS } from '../params/precision.ts'
import { inMask, type PartShape, tilesOf } from './part.ts'
import { isReadTogether, kindOf, PART_KINDS, type Part } from './partKinds.ts'

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
    Uint8Array.of(
      PART_KINDS.findIndex(({ name }) => name === part.kind),
      PRECISIONS[part.precision].code,
    ),
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
  if (version === 1 && parts.some(isReadTogether)) throw new DecodeError('part kind: unknown in version 1')
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
  const part = { kind: kind.name, precision, m, n, k, rounds, openings, mask, limitMs, openLimitMs, kept }
  ensureShape([...before, part], p, name)
  // What tells the kinds apart has just been checked.
  return { ...part, nonceHash: reader.bytes(32, name('nonce hash')) } as Part
}

/** §7, §8: the precisions of the kind, kept rounds of those who fill and of nobody else, and what the kind asks itself. */
function ensureShape(parts: readonly PartShape[], p: number, name: (field: string) => string): void {
  const part = parts[p]!
  const kind = kindOf(part)
  if (!kind.precisions.includes(part.precision))
    throw new DecodeError(`${name('precision')}: ${kind.precisions.join(' or ')} expected`)
  part.kept.forEach((kept, device) => {
    if (kept > MAX_KEPT) throw new DecodeError(`${name('kept')}: at most ${MAX_KEPT} expected, got ${kept}`)
    const asked = kind.fill(parts, p) === p && inMask(part.mask, device)
    if (asked !== kept > 0) throw new DecodeError(`${name('kept')}: wrong for device ${device}`)
    if (kept * tilesOf(part) >= 2 ** 32) throw new DecodeError(`${name('kept')}: 2^32 tiles or more`)
  })
  const refused = kind.refuse?.(parts, p)
  if (refused) throw new DecodeError(`${name(kind.name)}: ${refused}`)
}

function bounded(value: number, low: number, high: number, what: string): number {
  if (value < low || value > high) throw new DecodeError(`${what}: ${low} to ${high} expected, got ${value}`)
  return value
}

function powerOfTwo(value: number, what: string): number {
  if ((value & (value - 1)) !== 0) throw new DecodeError(`${what}: power of two expected, got ${value}`)
  return value
}

/** §4.1. What a prover signs before S_0: this challenge, made for its key. */
export const readyMessage = (challenge: Challenge): Uint8Array =>
  concatBytes(ascii('tsp1/ready'), challengeHash(encodeChallenge(challenge)))

/** §10. What both sides sign at the end: the challenge and q of every part in order, and with them every root. */
export const resultMessage = (challenge: Challenge, queries: readonly Uint8Array[]): Uint8Array =>
  concatBytes(ascii('tsp1/result'), challengeHash(encodeChallenge(challenge)), ...queries)
