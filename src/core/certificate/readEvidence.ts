import type { z } from 'zod'
import { toHex } from '../bytes/hex.ts'
import { parseStrictJson } from '../bytes/parseStrictJson.ts'
import { printable } from '../bytes/printable.ts'
import { ensureDepth } from './ensureDepth.ts'
import { openEnvelope } from './envelope.ts'
import { type CertificateProblem, isProblem } from './problems.ts'
import { certificateOf, type ReadCertificate } from './readCertificate.ts'
import { PREDICATE_TYPES, statementOfVersion1, statementSchema, statementVersion1 } from './statement.ts'
import { MAX_SUMMARY_BYTES, type ReadSummary, readSummary, SUMMARY_TYPE, summarySchema } from './summary.ts'

export type TrustRule = (signerKey: Uint8Array) => boolean

/** What a signed file of ours can be. */
export type Evidence = ReadCertificate | ReadSummary

type Reader = (statement: unknown, signerKeys: readonly Uint8Array[]) => Evidence | CertificateProblem

/** Evidence is known by its predicate type. Another kind is one more entry here, and one in the command that shows it. */
const READERS: Readonly<Record<string, Reader>> = {
  [PREDICATE_TYPES[1]]: reading(statementVersion1, (statement, keys) =>
    certificateOf(1, statementOfVersion1(statement), keys),
  ),
  [PREDICATE_TYPES[2]]: reading(statementSchema, (statement, keys) => certificateOf(2, statement, keys)),
  [SUMMARY_TYPE]: reading(summarySchema, readSummary),
}

function reading<S extends z.ZodType>(
  schema: S,
  read: (statement: z.infer<S>, signerKeys: readonly Uint8Array[]) => Evidence | CertificateProblem,
): Reader {
  return (value, signerKeys) => {
    const parsed = schema.safeParse(value)
    if (parsed.success) return read(parsed.data, signerKeys)
    return { code: 'MALFORMED', where: printable(parsed.error.issues[0]?.path.map(String).join('.') ?? '', 80) }
  }
}

/** Reads any signed file of ours as strictly as can be without recomputing a tile. */
export function readEvidence(text: string, trusts: TrustRule): Evidence | CertificateProblem {
  const envelope = openEnvelope(text)
  if (isProblem(envelope)) return envelope
  const { payload, signerKeys } = envelope
  // An unknown signer may have signed anything: nothing of it is parsed.
  if (!signerKeys.some(trusts)) return { code: 'UNKNOWN_SIGNER', got: signerKeys.map(toHex).join(' ') }
  const statement = parseStatement(payload)
  if (isProblem(statement)) return statement
  const type = (statement.value as { predicateType?: unknown } | null)?.predicateType
  if (typeof type !== 'string') return { code: 'MALFORMED', where: 'predicateType' }
  if (!Object.hasOwn(READERS, type)) return { code: 'OTHER_VERSION', expected: PREDICATE_TYPES[2] }
  if (type === SUMMARY_TYPE && text.length > MAX_SUMMARY_BYTES)
    return { code: 'TOO_LARGE', got: text.length, expected: MAX_SUMMARY_BYTES }
  return READERS[type]!(statement.value, signerKeys)
}

function parseStatement(payload: Uint8Array): { readonly value: unknown } | CertificateProblem {
  try {
    ensureDepth(payload, 16)
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(payload)
    const value = parseStrictJson(text)
    // C2: one spelling, so that no two readers see two statements in the same bytes.
    return JSON.stringify(value) === text ? { value } : { code: 'NOT_CANONICAL', where: 'payload' }
  } catch {
    return { code: 'MALFORMED', where: 'payload' }
  }
}

/** As `readEvidence`, for those who want a certificate and nothing else. */
export function readCertificate(text: string, trusts: TrustRule): ReadCertificate | CertificateProblem {
  const read = readEvidence(text, trusts)
  return isProblem(read) || read.kind === 'certificate' ? read : { code: 'NOT_A_CERTIFICATE' }
}
