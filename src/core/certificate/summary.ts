import * as z from 'zod'
import { ascii, equalBytes } from '../bytes/bytes.ts'
import { canonicalJson } from '../bytes/canonicalJson.ts'
import type { Signer } from '../bytes/ed25519.ts'
import { count, hex, instant, shortText } from '../bytes/fields.ts'
import { fromHex, toHex } from '../bytes/hex.ts'
import { sha256 } from '../bytes/sha256.ts'
import { CLAIM_ANSWERS } from '../identify/claimReasons.ts'
import { MAX_DEVICES } from '../params/constants.ts'
import { PRECISION_NAMES } from '../params/precision.ts'
import { sealEnvelope } from './envelope.ts'
import { precision, presetName, proverSubject } from './fields.ts'
import type { StatedJudgement } from './judgementSchema.ts'
import type { CertificateProblem } from './problems.ts'
import type { ReadCertificate } from './readCertificate.ts'
import { STATEMENT_TYPE } from './statement.ts'

export const SUMMARY_TYPE = 'urn:touchstone:summary:1'

/** C10: small enough for a listing or a chain. */
export const MAX_SUMMARY_BYTES = 4096

/** More kinds of card than this in one box are told together. */
const MOST_KINDS = 8

const predicate = z.strictObject({
  program: shortText,
  runId: hex(16),
  preset: presetName,
  startedAt: instant,
  issuedAt: instant,
  notAfter: instant,
  outcome: z.enum(['accepted', 'rejected']),
  claim: z.strictObject({ text: shortText, verdict: z.enum(CLAIM_ANSWERS) }).nullable(),
  models: z
    .array(z.strictObject({ name: shortText.nullable(), count: count.min(1).max(MAX_DEVICES) }))
    .max(MOST_KINDS + 1),
  count: z.strictObject({ claimed: count.max(MAX_DEVICES), least: count, established: z.boolean() }),
  rates: z.partialRecord(precision, count),
  memory: z.strictObject({ heldBytes: count, status: z.enum(['proven', 'held']) }).nullable(),
  score: count.max(1_000_000).exactOptional(),
  signer: hex(32),
  catalogue: hex(32),
})

/** The statement of a summary: what a listing needs to know of a certificate, and which one it is. */
export const summarySchema = z.strictObject({
  _type: z.literal(STATEMENT_TYPE),
  subject: z.tuple([
    z.strictObject({ name: z.literal('certificate'), digest: z.strictObject({ sha256: hex(32) }) }),
    proverSubject,
  ]),
  predicateType: z.literal(SUMMARY_TYPE),
  predicate,
})

type Summary = z.infer<typeof summarySchema>

/** A summary whose signature fits. Nothing in it was recomputed. */
export interface ReadSummary {
  readonly kind: 'summary'
  readonly signerKeys: readonly Uint8Array[]
  readonly statement: Summary
}

export function readSummary(statement: Summary, signerKeys: readonly Uint8Array[]): ReadSummary | CertificateProblem {
  const signer = fromHex(statement.predicate.signer, 32)!
  // Whoever listed it cannot speak for whoever watched: a summary is signed by a signer of its certificate (C10).
  return signerKeys.some((key) => equalBytes(key, signer))
    ? { kind: 'summary', signerKeys, statement }
    : { code: 'WRONG_SUBJECT', where: 'signer' }
}

/** C10: what follows from a certificate. Null of version 1, which has no validity and no catalogue. */
export function summarise(read: ReadCertificate, text: string, signer: Uint8Array): Summary | null {
  const { program, preset, startedAt, issuedAt, notAfter, judgement } = read.statement.predicate
  const { runId, proverKey } = read.run.challenge
  if (startedAt === null || read.catalogue === null) return null
  const { claim, count } = judgement
  return {
    _type: STATEMENT_TYPE,
    subject: [
      { name: 'certificate', digest: { sha256: toHex(sha256(ascii(text))) } },
      { name: 'prover', digest: { ed25519: toHex(proverKey) } },
    ],
    predicateType: SUMMARY_TYPE,
    predicate: {
      program,
      runId: toHex(runId),
      preset,
      startedAt,
      issuedAt,
      notAfter,
      outcome: judgement.outcome,
      claim: claim && { text: claim.text, verdict: claim.verdict },
      models: kindsOf(judgement),
      count: { claimed: count.claimed, least: count.least, established: count.established },
      rates: totalRates(judgement),
      memory: totalMemory(judgement),
      signer: toHex(signer),
      catalogue: judgement.catalogue,
    },
  }
}

/** How many of each card, by the names of buyers, in the order of the devices. */
export function kindsOf({ devices }: StatedJudgement): Summary['predicate']['models'] {
  const kinds = new Map<string | null, number>()
  for (const { identity } of devices) {
    const place = kinds.has(identity.model) || kinds.size < MOST_KINDS ? identity.model : null
    kinds.set(place, (kinds.get(place) ?? 0) + 1)
  }
  return [...kinds].map(([name, count]) => ({ name, count }))
}

const sum = (values: readonly number[]): number =>
  Math.min(
    Number.MAX_SAFE_INTEGER,
    values.reduce((total, value) => total + value, 0),
  )

/** Of all devices together, each precision that all of them showed. */
function totalRates({ devices }: Pick<StatedJudgement, 'devices'>): Summary['predicate']['rates'] {
  const shared = PRECISION_NAMES.filter((name) => devices.length > 0 && devices.every(({ rates }) => rates[name]))
  return Object.fromEntries(shared.map((name) => [name, sum(devices.map(({ rates }) => rates[name]!))]))
}

function totalMemory({ devices }: StatedJudgement): Summary['predicate']['memory'] {
  const memories = devices.flatMap(({ memory }) => (memory ? [memory] : []))
  if (memories.length === 0) return null
  const proven = memories.length === devices.length && memories.every(({ status }) => status === 'proven')
  return { heldBytes: sum(memories.map(({ heldBytes }) => heldBytes)), status: proven ? 'proven' : 'held' }
}

/** The summary of a certificate as a signed file. The score is the signer's word, as it is in the file. */
export function issueSummary(read: ReadCertificate, text: string, signer: Signer, score?: number): string | null {
  const summary = summarise(read, text, signer.publicKey)
  if (!summary) return null
  const scored = { ...summary, predicate: { ...summary.predicate, ...(score === undefined ? {} : { score }) } }
  return sealEnvelope(new TextEncoder().encode(JSON.stringify(scored)), signer)
}

/** Attack 85: it must be the summary of this very file, and say of it what follows from it. */
export function summaryProblem(
  { statement }: ReadSummary,
  full: ReadCertificate,
  text: string,
): CertificateProblem | null {
  const { score, ...stated } = statement.predicate
  const signer = fromHex(stated.signer, 32)!
  const follows = summarise(full, text, signer)
  if (!follows || statement.subject[0].digest.sha256 !== follows.subject[0].digest.sha256)
    return { code: 'OTHER_FILE', expected: statement.subject[0].digest.sha256 }
  if (!full.signerKeys.some((key) => equalBytes(key, signer))) return { code: 'SUMMARY_DIFFERS', where: 'signer' }
  const wrong = (Object.keys(follows.predicate) as (keyof typeof stated)[]).find(
    (name) => canonicalJson(stated[name]) !== canonicalJson(follows.predicate[name]),
  )
  if (wrong) return { code: 'SUMMARY_DIFFERS', where: wrong }
  return canonicalJson(statement.subject) === canonicalJson(follows.subject)
    ? null
    : { code: 'SUMMARY_DIFFERS', where: 'prover' }
}
