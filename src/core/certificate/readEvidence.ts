import type { z } from 'zod'
import { type CheckSignature, checkSignature } from '../bytes/ed25519.ts'
import { toHex } from '../bytes/hex.ts'
import { parseProtoless } from '../bytes/parseStrictJson.ts'
import { printable } from '../bytes/printable.ts'
import { DecodeError } from '../bytes/reader.ts'
import type { ReadAnswer } from './answerEvidence.ts'
import type {
  CheckedAnswer,
  CheckedCertificate,
  CheckedProduct,
  CheckedReceipt,
  CheckedSummary,
  CheckOpenings,
  ReaderRules,
} from './checkCertificate.ts'
import { checkRun } from './checkRun.ts'
import { MAX_CERTIFICATE_BYTES, openEnvelope, type SignedFile } from './envelope.ts'
import { type CertificateProblem, isProblem } from './problems.ts'
import type { ReadProduct } from './productEvidence.ts'
import { certificateOf, type ReadCertificate } from './readCertificate.ts'
import type { ReadReceipt } from './receiptEvidence.ts'
import { PREDICATE_TYPES, statementOfVersion1, statementSchema, statementVersion1 } from './statement.ts'
import { MAX_SUMMARY_BYTES, type ReadSummary, readSummary, SUMMARY_TYPE, summarySchema } from './summary.ts'

type TrustRule = (signerKey: Uint8Array) => boolean

/** What a signed file of ours can be. */
export type Evidence = ReadCertificate | ReadSummary | ReadReceipt | ReadProduct | ReadAnswer

export type Check = (
  rules: ReaderRules,
  checkOpenings: CheckOpenings,
) => Promise<CheckedCertificate | CheckedSummary | CheckedReceipt | CheckedProduct | CheckedAnswer>

/** A file that was read, and the check of what is in it. */
interface OpenedEvidence {
  readonly read: Evidence
  readonly check: Check
}

/** Reads one kind of evidence. A kind that not every reader knows is handed in with the rules. */
export type Opener = (
  statement: unknown,
  file: SignedFile,
  keys: readonly Uint8Array[],
  checkSignature: CheckSignature,
) => OpenedEvidence | CertificateProblem

/** An opener from what its statements look like, how they are read, and how what was read is checked. */
export const evidenceKind =
  <S extends z.ZodType, E extends Evidence>(
    schema: S,
    read: (
      statement: z.infer<S>,
      signerKeys: readonly Uint8Array[],
      checkSignature: CheckSignature,
    ) => E | CertificateProblem,
    check: (read: E, ...by: Parameters<Check>) => ReturnType<Check>,
    mostBytes = MAX_CERTIFICATE_BYTES,
  ): Opener =>
  (statement, { line, evidence }, signerKeys, checkSignature) => {
    const said = parseStated(schema, statement, line, mostBytes)
    if (isProblem(said)) return said
    if (evidence.length > 0) return BEHIND
    const found = read(said.value, signerKeys, checkSignature)
    return isProblem(found) ? found : { read: found, check: (...by) => check(found, ...by) }
  }

/** A file has nothing but its line, unless that says what stands behind it. */
const BEHIND = { code: 'NOT_CANONICAL', where: 'behind the signed line' } as const

/** A statement in its form, or what is wrong with it. */
export function parseStated<S extends z.ZodType>(
  schema: S,
  statement: unknown,
  line: string,
  mostBytes: number,
): { readonly value: z.infer<S> } | CertificateProblem {
  if (line.length > mostBytes) return { code: 'TOO_LARGE', got: line.length, expected: mostBytes }
  const found = schema.safeParse(statement)
  if (found.success) return { value: found.data }
  return { code: 'MALFORMED', where: printable(found.error.issues[0]?.path.map(String).join('.') ?? '', 80) }
}

/** Evidence is known by its predicate type. Another kind is one more entry here, and one in the command that shows it. */
const KINDS: Readonly<Record<string, Opener>> = {
  [PREDICATE_TYPES[1]]: evidenceKind(
    statementVersion1,
    (said, keys, checkSignature) => certificateOf(1, statementOfVersion1(said), keys, checkSignature),
    checkRun,
  ),
  [PREDICATE_TYPES[2]]: evidenceKind(
    statementSchema,
    (said, keys, checkSignature) => certificateOf(2, said, keys, checkSignature),
    checkRun,
  ),
  [SUMMARY_TYPE]: evidenceKind(summarySchema, readSummary, nothingToRecompute, MAX_SUMMARY_BYTES),
}

async function nothingToRecompute(read: ReadSummary): Promise<CheckedSummary> {
  return { kind: 'summary', problem: null, doubts: [{ code: 'SUMMARY_ALONE' }], read }
}

/** Receipts whose evidence stood in the signed line itself. No release wrote them. */
const EARLIER_RECEIPT = /^urn:touchstone:(work|product|private-answer):1$/

/** Reads any signed file of ours as strictly as can be without recomputing a tile. */
export function openEvidence(
  file: SignedFile,
  trusts: TrustRule,
  check: CheckSignature = checkSignature,
  others: Readonly<Record<string, Opener>> = {},
): OpenedEvidence | CertificateProblem {
  const envelope = openEnvelope(file.line, check)
  if (isProblem(envelope)) return envelope
  const { payload, signerKeys } = envelope
  // An unknown signer may have signed anything: nothing of it is parsed.
  if (!signerKeys.some((key) => trusts(key) === true))
    return { code: 'UNKNOWN_SIGNER', got: signerKeys.map(toHex).join(' ') }
  const statement = parseStatement(payload)
  if (isProblem(statement)) return statement
  const type = (statement.value as { predicateType?: unknown } | null)?.predicateType
  if (typeof type !== 'string') return { code: 'MALFORMED', where: 'predicateType' }
  const kinds = { ...KINDS, ...others }
  if (EARLIER_RECEIPT.test(type)) return { code: 'EARLIER_RECEIPT' }
  if (!Object.hasOwn(kinds, type)) return { code: 'OTHER_VERSION', expected: PREDICATE_TYPES[2] }
  return kinds[type]!(statement.value, file, signerKeys, check)
}

function parseStatement(payload: Uint8Array): { readonly value: unknown } | CertificateProblem {
  try {
    ensureDepth(payload, 16)
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(payload)
    const value = parseProtoless(text)
    // C2: one spelling, so that no two readers see two statements in the same bytes.
    return JSON.stringify(value) === text ? { value } : { code: 'NOT_CANONICAL', where: 'payload' }
  } catch {
    return { code: 'MALFORMED', where: 'payload' }
  }
}

/** As `openEvidence`, for those who check nothing further. */
export function readEvidence(text: string, trusts: TrustRule): Evidence | CertificateProblem {
  const opened = openEvidence({ line: text, evidence: new Uint8Array() }, trusts)
  return isProblem(opened) ? opened : opened.read
}

/** As `readEvidence`, for those who want a certificate and nothing else. */
export function readCertificate(text: string, trusts: TrustRule): ReadCertificate | CertificateProblem {
  const read = readEvidence(text, trusts)
  return isProblem(read) || read.kind === 'certificate' ? read : { code: 'NOT_A_CERTIFICATE' }
}

/** Refuses JSON nested deeper than `limit` before a parser builds it: depth is paid for in memory. */
export function ensureDepth(json: Uint8Array, limit: number): void {
  let depth = 0
  let inString = false
  for (let i = 0; i < json.length; i++) {
    const byte = json[i]!
    if (inString) {
      if (byte === BACKSLASH) i++
      else if (byte === QUOTE) inString = false
    } else if (byte === QUOTE) inString = true
    else if (byte === BRACE || byte === BRACKET) {
      if (++depth > limit) throw new DecodeError(`JSON: nested deeper than ${limit}`)
    } else if (byte === BRACE_END || byte === BRACKET_END) depth--
  }
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const BRACE = 0x7b
const BRACE_END = 0x7d
const BRACKET = 0x5b
const BRACKET_END = 0x5d
