import { equalBytes } from '../bytes/bytes.ts'
import { toHex } from '../bytes/hex.ts'
import type { Catalogue } from '../identify/catalogue.ts'
import { catalogueHash } from '../identify/catalogueHash.ts'
import { PROTOCOL_VERSION } from '../params/constants.ts'
import type { RejectReason } from '../proof/reasons.ts'
import type { Run } from '../proof/verifyPart.ts'
import { toInstant, toMillis } from '../units/instants.ts'
import { conclusionsDiffer } from './conclusionsDiffer.ts'
import type { Doubt } from './doubts.ts'
import { judgeCertificate, judgementProblem } from './judgementProblem.ts'
import type { Judgement } from './judgeRun.ts'
import { type CertificateProblem, isProblem } from './problems.ts'
import type { ReadCertificate } from './readCertificate.ts'
import { readEvidence } from './readEvidence.ts'
import { type Revocations, standingOf, withSuccessors } from './signers.ts'

/** What whoever reads a certificate brings along: none of it comes from the file. */
export interface ReaderRules {
  /** Milliseconds since 1970. */
  readonly nowMs: number
  readonly catalogue: Catalogue
  readonly trusted: readonly Uint8Array[]
  readonly revocations: Revocations
  /** So many trusted keys must have signed. */
  readonly threshold: number
  /** These must be among the signers. */
  readonly required: readonly Uint8Array[]
  readonly prover: Uint8Array | null
  readonly maxAgeSeconds: number | null
}

export interface CheckedCertificate {
  readonly kind: 'certificate'
  readonly problem: CertificateProblem | null
  /** Why what holds is still not established. */
  readonly doubts: readonly Doubt[]
  readonly read: ReadCertificate
  /** By today's rules and the reader's catalogue. */
  readonly ours: Judgement
  /** The stated judgement was recomputed from the catalogue it was made by. */
  readonly recomputed: boolean
}

export type CheckedEvidence =
  | CheckedCertificate
  | { readonly kind: 'refused'; readonly problem: CertificateProblem; readonly doubts: readonly [] }

/** Clocks of honest machines differ. */
const CLOCK_SKEW_MS = 5 * 60 * 1000

const refused = (problem: CertificateProblem): CheckedEvidence => ({ kind: 'refused', problem, doubts: [] })

/**
 * The whole check of a signed file: what it says must follow from its evidence under the rules and the catalogue it was
 * issued under, and a reader with today's rules and his own catalogue must come to the same end.
 */
export async function checkEvidence(
  text: string,
  rules: ReaderRules,
  checkOpenings: (run: Run) => Promise<RejectReason | null>,
): Promise<CheckedEvidence> {
  const trusted = withSuccessors(rules.trusted, rules.revocations)
  const trusts = (key: Uint8Array) => trusted.some((other) => equalBytes(other, key))
  const read = readEvidence(text, trusts)
  if (isProblem(read)) return refused(read)
  const signed = signersOf(read, trusts, rules)
  const asked = signed.problem ?? requirementProblem(read, rules)
  if (asked) return refused(asked)
  const found = await checkOpenings(read.run)
  const { problem, recomputed } = judgementProblem(read, rules.catalogue, found)
  const ours = judgeCertificate(read, rules.catalogue, PROTOCOL_VERSION)
  const doubts = problem ? [] : [...signed.doubts, ...doubtsOf(read, ours, rules)]
  return { kind: 'certificate', problem, doubts, read, ours, recomputed }
}

/** Whether enough trusted keys vouch for it, and those that were asked for. */
function signersOf(
  { signerKeys, statement }: ReadCertificate,
  trusts: (key: Uint8Array) => boolean,
  { threshold, required, revocations }: ReaderRules,
): { readonly problem: CertificateProblem | null; readonly doubts: readonly Doubt[] } {
  const standing = (key: Uint8Array) => standingOf(key, statement.predicate.issuedAt, revocations)
  const missing = required.find((key) => !signerKeys.some((signer) => equalBytes(signer, key)))
  if (missing) return { problem: { code: 'WRONG_SIGNER', expected: toHex(missing) }, doubts: [] }
  const counted = signerKeys.filter(trusts)
  const bad = [...counted, ...required].find((key) => standing(key) === 'bad')
  const usable = counted.filter((key) => standing(key) !== 'bad')
  const needed = { expected: threshold, got: usable.length }
  if (usable.length < threshold || (bad && required.includes(bad)))
    return {
      problem: bad ? { code: 'SIGNER_REVOKED', where: toHex(bad) } : { code: 'TOO_FEW_SIGNERS', ...needed },
      doubts: [],
    }
  const good = counted.filter((key) => standing(key) === 'good')
  return { problem: null, doubts: good.length < threshold ? [{ code: 'SIGNER_REVOKED_SINCE' }] : [] }
}

/** What the reader asked of age and identity. */
function requirementProblem(
  { statement, run }: ReadCertificate,
  { nowMs, prover, maxAgeSeconds }: ReaderRules,
): CertificateProblem | null {
  const { issuedAt } = statement.predicate
  const ageMs = nowMs - toMillis(issuedAt)
  if (ageMs < -CLOCK_SKEW_MS) return { code: 'FROM_THE_FUTURE', got: issuedAt, expected: toInstant(nowMs) }
  if (maxAgeSeconds !== null && ageMs > 1000 * maxAgeSeconds)
    return { code: 'TOO_OLD', got: issuedAt, expected: `${maxAgeSeconds} s` }
  if (prover && !equalBytes(prover, run.challenge.proverKey))
    return { code: 'WRONG_PROVER', got: toHex(run.challenge.proverKey), expected: toHex(prover) }
  return null
}

function doubtsOf({ statement }: ReadCertificate, ours: Judgement, { nowMs, catalogue }: ReaderRules): Doubt[] {
  const { notAfter, judgement } = statement.predicate
  const stated = judgement as unknown as Judgement
  const doubts: Doubt[] = []
  if (notAfter !== null && nowMs > toMillis(notAfter)) doubts.push({ code: 'EXPIRED', where: notAfter })
  const differ = conclusionsDiffer(stated, ours)
  if (differ.length > 0) {
    const sameCatalogue = stated.catalogue === catalogueHash(catalogue)
    doubts.push({ code: sameCatalogue ? 'RULES_DIFFER' : 'CATALOGUES_DIFFER', where: differ.join(', ') })
  } else if (stated.claim?.verdict === 'unproven') doubts.push({ code: 'CLAIM_UNPROVEN' })
  return doubts
}
