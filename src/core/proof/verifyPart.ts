import { equalBytes, u32le, words32 } from '../bytes/bytes.ts'
import { taggedHash } from '../bytes/sha256.ts'
import { TILE } from '../params/constants.ts'
import {
  type Challenge,
  challengeHash,
  devicesOf,
  drawSpace,
  encodeChallenge,
  fillPartOf,
  fillTiles,
  openingBytes,
  type Part,
  rootCount,
  tilesOf,
} from './challenge.ts'
import type { DeviceEvidence, PartEvidence } from './evidence.ts'
import { fingerprintBound, fingerprintPass, fingerprintTile } from './fingerprint.ts'
import { leafHash, rootFrom } from './merkle.ts'
import { bindPartner, keptWords, passPartner } from './partners.ts'
import { type Draw, drawOpening, queryHash } from './query.ts'
import type { RejectReason } from './reasons.ts'
import { chainSeeds, partSeed, passWords } from './seeds.ts'
import type { TileEngine } from './tileEngine.ts'

/** A challenge and what was said to it so far; parts that have not run are absent. */
export interface Run {
  readonly challenge: Challenge
  readonly parts: readonly PartEvidence[]
}

/** q of part p (§4.4). */
export function partQuery({ challenge, parts }: Run, p: number): Uint8Array {
  const { s, z, nonce, devices } = parts[p]!
  const x = challengeHash(encodeChallenge(challenge))
  return queryHash({ x, s, nonce, ...(z ? { z } : {}), roots: devices.map((device) => device.roots) })
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
  const kept = part.kind === 'memory' ? part.kept[device]! : 0
  const limitUs = part.limitMs * 1000
  let before = 0
  for (const [index, arrival] of arrivalsUs.entries()) {
    // §7 The fill must be committed before Z_0 is known, and the clock of the passes starts at Z_0 (attack 38).
    const started = part.kind === 'memory' && index >= kept ? zSentUs! : 0
    const latest = part.kind === 'memory' && index < kept ? Math.min(limitUs, zSentUs!) : started + limitUs
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
export function verifyOpenings(run: Run, range: OpeningRange, engine: TileEngine): RejectReason | null {
  const { challenge } = run
  const evidence = run.parts[range.part]!.devices.find(({ device }) => device === range.device)!
  const stride = openingBytes(challenge, range.part, range.device)
  const expected = stride * challenge.parts[range.part]!.openings
  const place = { part: range.part, device: range.device }
  if (evidence.openings.length !== expected)
    return { code: 'WRONG_OPENING_SIZE', ...place, expected, got: evidence.openings.length }
  const query = partQuery(run, range.part)
  const space = drawSpace(challenge, range.part, range.device)
  const verify = openingVerifier(run, range.part, evidence, engine)
  for (let opening = range.from; opening < range.to; opening++) {
    const draw = drawOpening(query, range.device, opening, space.rounds, space.tiles)
    const code = verify(draw, evidence.openings.subarray(opening * stride, (opening + 1) * stride))
    if (code) return { code, ...place, opening }
  }
  return null
}

type OpeningVerifier = (draw: Draw, path: Uint8Array) => RejectReason['code'] | null

function openingVerifier(run: Run, p: number, evidence: DeviceEvidence, engine: TileEngine): OpeningVerifier {
  const part = run.challenge.parts[p]!
  if (part.kind === 'memory' || part.kind === 'link') return passVerifier(run, p, evidence, engine)
  const x = challengeHash(encodeChallenge(run.challenge))
  const seeds = chainSeeds(partSeed(x, run.parts[p]!.s, p, evidence.device), evidence.roots)
  return ({ round, tile }, path) => {
    const seed = seeds[round]!
    const salt = words32(seed)[3]!
    const own = tileOf(part, seed, tile, engine)
    const fingerprint =
      part.kind === 'rounds'
        ? fingerprintTile(own, salt)
        : fingerprintBound(own, tileOf(part, seed, bindPartner(tile, seed, tilesOf(part)), engine), salt)
    const reached = rootFrom(leafHash(tile, fingerprint), tile, path)
    return equalBytes(reached, evidence.roots[round]!) ? null : 'OPENING_DOES_NOT_REACH_ROOT'
  }
}

/** A copy, because engines reuse their output buffer. */
function tileOf(part: Part, seed: Uint8Array, tile: number, engine: TileEngine): Uint32Array {
  const columns = part.n / TILE
  const place = { tileRow: Math.floor(tile / columns), tileColumn: tile % columns }
  return engine.tile({ seed, precision: part.precision, k: part.k, ...place }).slice()
}

/** The fill of one device as the verifier sees it: the roots it was committed with and how to recompute any tile of it. */
function fillOf(run: Run, fillPart: number, device: number, engine: TileEngine) {
  const part = run.challenge.parts[fillPart]!
  const { s, devices } = run.parts[fillPart]!
  const roots = devices.find((evidence) => evidence.device === device)!.roots.slice(0, part.kept[device]!)
  const x = challengeHash(encodeChallenge(run.challenge))
  const seeds = chainSeeds(partSeed(x, s, fillPart, device), roots)
  const tiles = tilesOf(part)
  return {
    part,
    roots,
    seeds,
    tiles,
    total: fillTiles(part, device),
    tile: (u: number) => tileOf(part, seeds[Math.floor(u / tiles)]!, u % tiles, engine),
  }
}

function passVerifier(run: Run, p: number, evidence: DeviceEvidence, engine: TileEngine): OpeningVerifier {
  const part = run.challenge.parts[p]!
  const { s, z } = run.parts[p]!
  const fillPart = fillPartOf(run.challenge, p)
  const own = fillOf(run, fillPart, evidence.device, engine)
  const count = run.challenge.deviceCount
  // §8 In a link part the partners lie in the memory of the device before, and Z_0 is S_p.
  const other = part.kind === 'link' ? fillOf(run, fillPart, (evidence.device + count - 1) % count, engine) : own
  const passRoots = evidence.roots.slice(part.kind === 'memory' ? own.roots.length : 0)
  const words = passWords(part.kind === 'memory' ? z! : s, passRoots)
  const fillPathBytes = 32 * Math.log2(own.tiles)
  return ({ round, tile: u }, path) => {
    const tile = own.tile(u)
    const partner = other.tile(passPartner(u, words[round]!, other.total))
    const leaf = leafHash(u, fingerprintPass(keptWords(tile), keptWords(partner), words32(words[round]!)[2]!))
    const passPath = path.subarray(0, path.length - fillPathBytes)
    const reached = taggedHash('tsp1/mem', u32le(round), rootFrom(leaf, u, passPath))
    if (!equalBytes(reached, passRoots[round]!)) return 'OPENING_DOES_NOT_REACH_ROOT'
    const keptRound = Math.floor(u / own.tiles)
    const inRound = u % own.tiles
    const fillLeaf = leafHash(inRound, fingerprintTile(tile, words32(own.seeds[keptRound]!)[3]!))
    const fillRoot = rootFrom(fillLeaf, inRound, path.subarray(path.length - fillPathBytes))
    return equalBytes(fillRoot, own.roots[keptRound]!) ? null : 'FILL_DOES_NOT_REACH_ROOT'
  }
}
