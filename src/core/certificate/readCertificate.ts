import { fromBase64 } from '../bytes/base64.ts'
import { equalBytes } from '../bytes/bytes.ts'
import { canonicalJson } from '../bytes/canonicalJson.ts'
import type { CheckSignature } from '../bytes/ed25519.ts'
import { fromHex, toHex } from '../bytes/hex.ts'
import { DecodeError } from '../bytes/reader.ts'
import { taggedHash } from '../bytes/sha256.ts'
import { type Catalogue, catalogueHash, contradictionsIn } from '../identify/catalogue.ts'
import type { ProtocolVersion } from '../params/constants.ts'
import { PRESETS, type Preset } from '../params/presets.ts'
import {
  type Challenge,
  challengeHash,
  decodeChallenge,
  encodeChallenge,
  readyMessage,
  resultMessage,
} from '../proof/challenge.ts'
import { figuresOf } from '../proof/figures.ts'
import { kindOf } from '../proof/partKinds.ts'
import { nonceHash } from '../proof/seeds.ts'
import { type PartEvidence, partQuery, type Run, verifyRoots } from '../proof/verifyPart.ts'
import { toMillis } from '../units/instants.ts'
import { challengeDiffers, type OfferedDevice, wholeRunDiffers } from './challengeDiffers.ts'
import { type CertificateProblem, isProblem } from './problems.ts'
import { LONGEST_VALID_MS, readPart, type Statement } from './statement.ts'

/** A certificate whose signatures, bindings and figures hold. Its openings and its judgement are not yet checked. */
export interface ReadCertificate {
  readonly kind: 'certificate'
  readonly version: ProtocolVersion
  readonly signerKeys: readonly Uint8Array[]
  readonly statement: Statement
  readonly run: Run
  readonly preset: Preset
  /** The one the signer judged by; version 1 did not carry it. */
  readonly catalogue: Catalogue | null
}

/** Everything that can be checked without recomputing a tile, in the order of docs/spec/certificate.md C8. */
export function certificateOf(
  version: ProtocolVersion,
  statement: Statement,
  signerKeys: readonly Uint8Array[],
  check: CheckSignature,
): ReadCertificate | CertificateProblem {
  // One who counter-signs is new in version 2; before, a second signature was another spelling.
  if (version === 1 && signerKeys.length > 1) return { code: 'NOT_CANONICAL', where: 'signatures' }
  const unknown = Object.keys(statement.predicate.extensions ?? {}).find((name) => name.startsWith('must-'))
  if (unknown !== undefined) return { code: 'UNKNOWN_EXTENSION', where: unknown }
  const challenge = readChallenge(version, statement, signerKeys)
  if (isProblem(challenge)) return challenge
  const preset = PRESETS[statement.predicate.preset]
  const devices = statement.predicate.claims.inventory.devices.slice(0, challenge.deviceCount)
  if (devices.length < challenge.deviceCount) return { code: 'WRONG_SUBJECT', where: 'devices' }
  const deviceClasses = devices.map((device) => device.class)
  const differs =
    challengeDiffers(preset, challenge, deviceClasses) ?? (version > 1 ? hollowIn(preset, challenge, devices) : null)
  // A rejected run may have ended in its calibration, which has fewer openings than the preset.
  if (differs && statement.predicate.judgement.outcome === 'accepted') return { code: 'WRONG_PRESET', where: differs }
  const parts = readParts(statement, challenge)
  if (isProblem(parts)) return parts
  const run = { challenge, parts: parts.evidence }
  const { catalogue, judgement } = statement.predicate
  if (catalogue && !isCatalogue(catalogue, judgement.catalogue)) return { code: 'WRONG_CATALOGUE' }
  const problem =
    timesProblem(statement.predicate, run) ??
    anchorProblem(statement.predicate, run) ??
    signaturesProblem(statement, run, check) ??
    figuresProblem(statement, run)
  return problem ?? { kind: 'certificate', version, signerKeys, statement, run, preset, catalogue }
}

/** C7: the catalogue the signer judged by travels in the file, so that no later edit of ours takes it away. */
const isCatalogue = (carried: Catalogue, hash: string): boolean =>
  contradictionsIn(carried).next().done === true && catalogueHash(carried) === hash

const hollowIn = (preset: Preset, challenge: Challenge, devices: readonly OfferedDevice[]): string | null =>
  preset.secure ? wholeRunDiffers(challenge, devices) : null

/** What a run that calls itself `mainnet` has left out; only version 1 let it (attack 105). */
export const hollowRun = ({ preset, run, statement }: ReadCertificate): string | null =>
  hollowIn(preset, run.challenge, statement.predicate.claims.inventory.devices.slice(0, run.challenge.deviceCount))

function readChallenge(
  version: ProtocolVersion,
  statement: Statement,
  signerKeys: readonly Uint8Array[],
): Challenge | CertificateProblem {
  const bytes = fromBase64(statement.predicate.challenge)
  if (!bytes) return { code: 'MALFORMED', where: 'predicate.challenge' }
  let challenge: Challenge
  try {
    challenge = decodeChallenge(bytes)
  } catch (error) {
    if (error instanceof DecodeError) return { code: 'BAD_CHALLENGE', where: error.message }
    throw error
  }
  if (challenge.version !== version) return { code: 'BAD_CHALLENGE', where: 'version' }
  const [run, prover] = statement.subject
  if (run.name !== `run ${toHex(challenge.runId)}`) return { code: 'WRONG_SUBJECT', where: 'run id' }
  if (run.digest.sha256 !== toHex(challengeHash(encodeChallenge(challenge))))
    return { code: 'WRONG_SUBJECT', where: 'X' }
  if (prover.digest.ed25519 !== toHex(challenge.proverKey)) return { code: 'WRONG_SUBJECT', where: 'prover key' }
  if (!signerKeys.some((key) => equalBytes(key, challenge.validatorKey)))
    return { code: 'WRONG_SUBJECT', where: 'validator key' }
  return challenge
}

/** A run that its validator rejected may end early; any other has evidence for every part. */
function readParts({ predicate }: Statement, challenge: Challenge): { evidence: PartEvidence[] } | CertificateProblem {
  const missing = predicate.parts.length < challenge.parts.length && predicate.judgement.outcome !== 'rejected'
  if (missing || predicate.parts.length > challenge.parts.length)
    return { code: 'MISSING_PARTS', expected: challenge.parts.length, got: predicate.parts.length }
  const evidence: PartEvidence[] = []
  for (const [p, stated] of predicate.parts.entries()) {
    const part = readPart(stated)
    const twoPhases = kindOf(challenge.parts[p]!).phases.length > 1
    if (!part || (part.z !== null) !== twoPhases || (part.zSentUs !== null) !== twoPhases)
      return { code: 'MALFORMED', where: `predicate.parts.${p}` }
    if (!equalBytes(nonceHash(part.nonce), challenge.parts[p]!.nonceHash))
      return { code: 'WRONG_NONCE', where: `part ${p}` }
    evidence.push(part)
    const reason = verifyRoots({ challenge, parts: evidence }, p)
    if (reason) return { code: 'EVIDENCE_REJECTED', reason }
  }
  return { evidence }
}

const DAY_MS = 24 * 3600 * 1000
/** The longest that installing, calibrating and running can take; twice, where the first run was too short. */
const LONGEST_RUN_MS = 7 * DAY_MS

/** C3: the run lies between start and issue, and the parts, one after the other, fit in between. */
function timesProblem(
  { startedAt, issuedAt, notAfter }: Statement['predicate'],
  { parts }: Run,
): CertificateProblem | null {
  if (startedAt === null) return null
  const [started, issued, ends] = [startedAt, issuedAt, notAfter].map(toMillis) as [number, number, number]
  const shownUs = parts.reduce((sum, { devices }) => sum + Math.max(...devices.map(lastArrivalUs)), 0)
  if (issued < started || issued - started > LONGEST_RUN_MS) return { code: 'WRONG_TIMES', where: 'startedAt' }
  if (1000 * (issued - started) < shownUs) return { code: 'WRONG_TIMES', where: 'arrivalsUs' }
  if (ends <= issued || ends - issued > LONGEST_VALID_MS) return { code: 'WRONG_TIMES', where: 'notAfter' }
  return null
}

const lastArrivalUs = ({ arrivalsUs }: { readonly arrivalsUs: readonly number[] }): number => arrivalsUs.at(-1) ?? 0

/** §10: where a chain is named, every S_p follows from one of its blocks. That the block is one of it is for the reader to look up. */
function anchorProblem({ anchor }: Statement['predicate'], { parts }: Run): CertificateProblem | null {
  if (!anchor) return null
  const follows = parts.every(({ s }, p) => {
    const { block, random } = anchor.parts[p] ?? { block: '', random: '' }
    return toHex(taggedHash('tsp1/s', fromHex(`${block}${random}`, 64) ?? new Uint8Array(0))) === toHex(s)
  })
  return follows ? null : { code: 'WRONG_ANCHOR' }
}

function signaturesProblem({ predicate }: Statement, run: Run, check: CheckSignature): CertificateProblem | null {
  const { challenge, parts } = run
  const signed = (text: string, message: Uint8Array, key: Uint8Array) => {
    const signature = fromBase64(text)
    return signature !== null && check(signature, message, key) === true
  }
  // What a prover was rejected for not signing is not there, and nothing came after it (attack 493).
  const isUnready = predicate.judgement.reason?.code === 'BAD_READY_SIGNATURE'
  if (isUnready) return isEmpty(predicate) ? null : { code: 'BAD_READY_SIGNATURE' }
  if (!signed(predicate.ready, readyMessage(challenge), challenge.proverKey)) return { code: 'BAD_READY_SIGNATURE' }
  if (predicate.result === null)
    return predicate.judgement.outcome === 'rejected' ? null : { code: 'BAD_RESULT_SIGNATURE', where: 'missing' }
  if (parts.length < challenge.parts.length)
    return { code: 'MISSING_PARTS', expected: challenge.parts.length, got: parts.length }
  const message = resultMessage(
    challenge,
    challenge.parts.map((_, p) => partQuery(run, p)),
  )
  if (!signed(predicate.result.prover, message, challenge.proverKey))
    return { code: 'BAD_RESULT_SIGNATURE', where: 'prover' }
  if (!signed(predicate.result.validator, message, challenge.validatorKey))
    return { code: 'BAD_RESULT_SIGNATURE', where: 'validator' }
  return null
}

const isEmpty = ({ judgement, ready, parts, result }: Statement['predicate']): boolean =>
  judgement.outcome === 'rejected' && ready === '' && parts.length === 0 && result === null

function figuresProblem({ predicate }: Statement, run: Run): CertificateProblem | null {
  const figures = figuresOf(run)
  if (figures.length !== predicate.figures.length)
    return { code: 'WRONG_FIGURES', expected: figures.length, got: predicate.figures.length }
  const wrong = figures.findIndex((figure, i) => canonicalJson(figure) !== canonicalJson(predicate.figures[i]))
  return wrong < 0 ? null : { code: 'WRONG_FIGURES', where: `figure ${wrong}` }
}
