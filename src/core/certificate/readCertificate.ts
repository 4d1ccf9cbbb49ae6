import type { z } from 'zod'
import { fromBase64 } from '../bytes/base64.ts'
import { equalBytes } from '../bytes/bytes.ts'
import { checkSignature } from '../bytes/ed25519.ts'
import { toHex } from '../bytes/hex.ts'
import { printable } from '../bytes/printable.ts'
import { DecodeError } from '../bytes/reader.ts'
import { parseStrictJson } from '../bytes/strictJson.ts'
import type { ProtocolVersion } from '../params/constants.ts'
import { PRESETS, type Preset } from '../params/presets.ts'
import { type Challenge, challengeHash, decodeChallenge, encodeChallenge } from '../proof/challenge.ts'
import type { PartEvidence } from '../proof/evidence.ts'
import { figuresOf } from '../proof/figures.ts'
import { nonceHash } from '../proof/seeds.ts'
import { readyMessage, resultMessage } from '../proof/signatures.ts'
import { partQuery, type Run, verifyRoots } from '../proof/verifyPart.ts'
import { challengeDiffers } from './challengeDiffers.ts'
import { ensureDepth } from './ensureDepth.ts'
import { openEnvelope } from './envelope.ts'
import type { CertificateProblem } from './problems.ts'
import {
  PREDICATE_TYPES,
  readPart,
  type Statement,
  statementOfVersion1,
  statementSchema,
  statementVersion1,
} from './statement.ts'

/** A certificate whose signatures, bindings and figures hold. Its openings and its judgement are not yet checked. */
export interface ReadCertificate {
  readonly signerKey: Uint8Array
  readonly statement: Statement
  readonly run: Run
  readonly preset: Preset
}

export type TrustRule = (signerKey: Uint8Array) => boolean

const isProblem = (value: object): value is CertificateProblem => 'code' in value

/** Everything that can be checked without recomputing a tile, in the order of docs/spec/certificate.md §4. */
export function readCertificate(text: string, trusts: TrustRule): ReadCertificate | CertificateProblem {
  const envelope = openEnvelope(text)
  if (isProblem(envelope)) return envelope
  const { payload, signerKey } = envelope
  // An unknown signer may have signed anything: nothing of it is parsed.
  if (!trusts(signerKey)) return { code: 'UNKNOWN_SIGNER', got: toHex(signerKey) }
  const stated = readStatement(payload)
  if (isProblem(stated)) return stated
  const { statement } = stated
  const challenge = readChallenge(stated, signerKey)
  if (isProblem(challenge)) return challenge
  const preset = PRESETS[statement.predicate.preset]
  const devices = statement.predicate.claims.inventory.devices.slice(0, challenge.deviceCount)
  const deviceClasses = devices.map((device) => device.class)
  if (devices.length < challenge.deviceCount) return { code: 'WRONG_SUBJECT', where: 'devices' }
  const differs = challengeDiffers(preset, challenge, deviceClasses)
  // A rejected run may have ended in its calibration, which has fewer openings than the preset.
  if (differs && statement.predicate.judgement.outcome === 'accepted') return { code: 'WRONG_PRESET', where: differs }
  const parts = readParts(statement, challenge)
  if (isProblem(parts)) return parts
  const run = { challenge, parts: parts.evidence }
  return signaturesProblem(statement, run) ?? figuresProblem(statement, run) ?? { signerKey, statement, run, preset }
}

interface Versioned {
  readonly version: ProtocolVersion
  readonly statement: Statement
}

function versioned<T>(
  version: ProtocolVersion,
  parsed: z.ZodSafeParseResult<T>,
  asToday: (statement: T) => Statement,
): Versioned | CertificateProblem {
  if (parsed.success) return { version, statement: asToday(parsed.data) }
  return { code: 'MALFORMED', where: printable(parsed.error.issues[0]?.path.map(String).join('.') ?? '', 80) }
}

function readStatement(payload: Uint8Array): Versioned | CertificateProblem {
  try {
    ensureDepth(payload, 16)
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(payload)
    const value = parseStrictJson(text)
    // C2: one spelling, so that no two readers see two statements in the same bytes.
    if (JSON.stringify(value) !== text) return { code: 'NOT_CANONICAL', where: 'payload' }
    const type = (value as { predicateType?: unknown } | null)?.predicateType
    if (type === PREDICATE_TYPES[1]) return versioned(1, statementVersion1.safeParse(value), statementOfVersion1)
    if (typeof type === 'string' && type !== PREDICATE_TYPES[2])
      return { code: 'OTHER_VERSION', expected: PREDICATE_TYPES[2] }
    return versioned(2, statementSchema.safeParse(value), (statement) => statement)
  } catch {
    return { code: 'MALFORMED', where: 'payload' }
  }
}

function readChallenge({ version, statement }: Versioned, signerKey: Uint8Array): Challenge | CertificateProblem {
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
  if (!equalBytes(challenge.validatorKey, signerKey)) return { code: 'WRONG_SUBJECT', where: 'validator key' }
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
    const isMemory = challenge.parts[p]!.kind === 'memory'
    if (!part || (part.z !== null) !== isMemory || (part.zSentUs !== null) !== isMemory)
      return { code: 'MALFORMED', where: `predicate.parts.${p}` }
    if (!equalBytes(nonceHash(part.nonce), challenge.parts[p]!.nonceHash))
      return { code: 'WRONG_NONCE', where: `part ${p}` }
    evidence.push(part)
    const reason = verifyRoots({ challenge, parts: evidence }, p)
    if (reason) return { code: 'EVIDENCE_REJECTED', reason }
  }
  return { evidence }
}

function signaturesProblem({ predicate }: Statement, run: Run): CertificateProblem | null {
  const { challenge, parts } = run
  const signed = (text: string, message: Uint8Array, key: Uint8Array) => {
    const signature = fromBase64(text)
    return signature !== null && checkSignature(signature, message, key)
  }
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

function figuresProblem({ predicate }: Statement, run: Run): CertificateProblem | null {
  const figures = figuresOf(run)
  if (figures.length !== predicate.figures.length)
    return { code: 'WRONG_FIGURES', expected: figures.length, got: predicate.figures.length }
  const wrong = figures.findIndex((figure, i) =>
    (Object.keys(figure) as (keyof typeof figure)[]).some((key) => figure[key] !== predicate.figures[i]![key]),
  )
  return wrong < 0 ? null : { code: 'WRONG_FIGURES', where: `figure ${wrong}` }
}
