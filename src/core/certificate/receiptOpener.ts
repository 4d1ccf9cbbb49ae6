import type { z } from 'zod'
import { toHex } from '../bytes/hex.ts'
import { sha256 } from '../bytes/sha256.ts'
import type { EvidenceBehind } from '../work/evidenceBehind.ts'
import { type CertificateProblem, isProblem } from './problems.ts'
import { type Check, type Evidence, type Opener, parseStated } from './readEvidence.ts'

interface SaysBehind {
  readonly predicate: { readonly evidence: EvidenceBehind }
}

/** A specification of 64 KiB, spelled twice, stays below. */
const MOST_LINE_BYTES = 2 ** 20

/**
 * W4.4.2. An opener of receipts, as `evidenceKind`: their evidence stands behind the signed line, and nothing of it is read
 * before it is known to be the one (attacks 216 and 217).
 */
export const receiptOpener =
  <S extends z.ZodType<SaysBehind>, E extends Evidence>(
    schema: S,
    read: (statement: z.infer<S>, signerKeys: readonly Uint8Array[], evidence: Uint8Array) => E | CertificateProblem,
    check: (read: E) => ReturnType<Check>,
  ): Opener =>
  (statement, { line, evidence }, signerKeys) => {
    const said = parseStated(schema, statement, line, MOST_LINE_BYTES)
    if (isProblem(said)) return said
    const other = otherEvidence(said.value.predicate.evidence, evidence)
    if (other) return other
    const found = read(said.value, signerKeys, evidence)
    return isProblem(found) ? found : { read: found, check: () => check(found) }
  }

function otherEvidence({ bytes, sha256: hash }: EvidenceBehind, evidence: Uint8Array): CertificateProblem | null {
  const code = evidence.length < bytes ? 'TRUNCATED' : 'OTHER_EVIDENCE'
  if (evidence.length !== bytes) return { code, got: evidence.length, expected: bytes }
  return toHex(sha256(evidence)) === hash ? null : { code }
}
