import { type Challenge, challengeHash, encodeChallenge } from './challenge.ts'
import { devicesOf } from './part.ts'
import { kindOf, type Part, rootCount, untimedRoots } from './partKinds.ts'
import { drawOpening, queryHash } from './query.ts'
import type { RejectReason } from './reasons.ts'
import type { TileEngine } from './tileEngine.ts'

/** What one device sent in one part, with the validator's own times. */
export interface DeviceEvidence {
  readonly device: number
  /** R, or in a memory part R_0 … R_(G-1) then Q_0 … Q_(P-1), or in a link part Q. */
  readonly roots: readonly Uint8Array[]
  /** Arrival of each root, microseconds of the validator's monotonic clock since T0 of the part. */
  readonly arrivalsUs: readonly number[]
  /** Siblings, opening after opening. */
  readonly openings: Uint8Array
}

/** Everything said in one part (§4.2 to §4.4). */
export interface PartEvidence {
  readonly s: Uint8Array
  /** Z_0 of a memory part, and when it was written. */
  readonly z: Uint8Array | null
  readonly zSentUs: number | null
  readonly nonce: Uint8Array
  readonly devices: readonly DeviceEvidence[]
}

/** A challenge and what was said to it so far; parts that have not run are absent. */
export interface Run {
  readonly challenge: Challenge
  readonly parts: readonly PartEvidence[]
}

/** q of part p (§4.4). */
export function partQuery({ challenge, parts }: Run, p: number): Uint8Array {
  const { s, z, nonce, devices } = parts[p]!
  const x = challengeHash(encodeChallenge(challenge))
  return queryHash({ x, s, nonce, z, roots: devices.map((device) => device.roots) })
}

/** §4.3: every device named must have sent every root, in time, and nothing else. */
export function verifyRoots({ challenge, parts }: Run, p: number): RejectReason | null {
  const part = challenge.parts[p]!
  const { devices, zSentUs } = parts[p]!
  const expected = devicesOf(part)
  if (devices.length !== expected.length)
    return { code: 'MISSING_ROOT', part: p, expected: `${expected.length} devices`, got: `${devices.length} devices` }
  for (const [index, evidence] of devices.entries()) {
    const device = expected[index]!
    if (evidence.device !== device)
      return { code: 'UNEXPECTED_ROOT', part: p, expected: `device ${device}`, got: `device ${evidence.device}` }
    const reason = verifyArrivals(part, evidence, zSentUs)
    if (reason) return { ...reason, part: p, device }
  }
  return null
}

function verifyArrivals(
  part: Part,
  { device, roots, arrivalsUs }: DeviceEvidence,
  zSentUs: number | null,
): RejectReason | null {
  const expected = rootCount(part, device)
  if (roots.length < expected) return { code: 'MISSING_ROOT', expected, got: roots.length }
  if (roots.length > expected || arrivalsUs.length !== expected)
    return { code: 'UNEXPECTED_ROOT', expected, got: Math.max(roots.length, arrivalsUs.length) }
  const untimed = untimedRoots(part, device)
  const limitUs = part.limitMs * 1000
  let before = 0
  for (const [index, arrival] of arrivalsUs.entries()) {
    // §7 The first phase must be committed before Z_0 is known, and the clock of the second starts at Z_0 (attack 38).
    const started = index < untimed ? 0 : (zSentUs ?? 0)
    const latest = index < untimed ? Math.min(limitUs, zSentUs!) : started + limitUs
    if (arrival < Math.max(before, started))
      return { code: 'EARLY_ROOT', expected: `${Math.max(before, started)} us`, got: `${arrival} us` }
    if (arrival > latest) return { code: 'LATE_ROOT', expected: `${latest} us`, got: `${arrival} us` }
    before = arrival
  }
  return null
}

/** Openings `from` to `to` (excluded) of one device in part p; the unit of work a verifier hands to its cores. */
export interface OpeningRange {
  readonly part: number
  readonly device: number
  readonly from: number
  readonly to: number
}

/** §6. Recomputes every drawn tile and walks its path; the first opening that fails is the reason. */
export const verifyOpenings = (run: Run, range: OpeningRange, engine: TileEngine): RejectReason | null =>
  rangeVerifier(run, engine)(range)

const MOST_KNOWN = 16

/** The same for many ranges of a run: what those of a device in a part share is computed once. */
export function rangeVerifier(run: Run, engine: TileEngine): (range: OpeningRange) => RejectReason | null {
  const known = new Map<string, ReturnType<typeof deviceVerifier>>()
  return ({ part, device, from, to }) => {
    const key = `${part} ${device}`
    const verify = known.get(key) ?? deviceVerifier(run, part, device, engine)
    // Ranges come in order: of what was long ago nothing is kept, and a run of 32 devices has 300 such places.
    if (known.size >= MOST_KNOWN) known.clear()
    known.set(key, verify)
    return verify(from, to)
  }
}

function deviceVerifier(run: Run, p: number, device: number, engine: TileEngine) {
  const { parts } = run.challenge
  const part = parts[p]!
  const kind = kindOf(part)
  const evidence = run.parts[p]!.devices.find((candidate) => candidate.device === device)!
  const stride = kind.openingBytes(parts, p, device)
  const expected = stride * part.openings
  const place = { part: p, device }
  const got = evidence.openings.length
  if (got !== expected) return (): RejectReason => ({ code: 'WRONG_OPENING_SIZE', ...place, expected, got })
  const query = partQuery(run, p)
  const tiles = kind.tiles(parts, p, device)
  const x = challengeHash(encodeChallenge(run.challenge))
  const verify = kind.verifier({ run, x, p, evidence, engine })
  return (from: number, to: number): RejectReason | null => {
    for (let opening = from; opening < to; opening++) {
      const draw = drawOpening(query, device, opening, part.rounds, tiles)
      const code = verify(draw, evidence.openings.subarray(opening * stride, (opening + 1) * stride))
      if (code) return { code, ...place, opening }
    }
    return null
  }
}
