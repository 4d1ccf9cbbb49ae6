import type { AttestationReader } from '../attest/attestationReader.ts'
import type { CheckedBundle, Tier } from '../attest/checkBundle.ts'
import { equalBytes } from '../bytes/bytes.ts'
import type { CheckSignature } from '../bytes/ed25519.ts'
import { toHex } from '../bytes/hex.ts'
import type { Catalogue } from '../identify/catalogue.ts'
import type { RejectReason } from '../proof/reasons.ts'
import type { Run } from '../proof/verifyPart.ts'
import { toInstant, toMillis } from '../units/instants.ts'
import type { ReceiptFigures } from '../work/checkReceipt.ts'
import type { ReadAnswer } from './answerEvidence.ts'
import type { ClockBound } from './clockBound.ts'
import type { Doubt } from './doubts.ts'
import { MAX_CERTIFICATE_BYTES, takeApart, tooLarge } from './envelope.ts'
import type { JudgementCheck } from './judgementProblem.ts'
import type { Judgement } from './judgeRun.ts'
import { type CertificateProblem, isProblem } from './problems.ts'
import type { ReadProduct } from './productEvidence.ts'
import type { ReadCertificate } from './readCertificate.ts'
import { type Evidence, type Opener, openEvidence } from './readEvidence.ts'
import type { ReadReceipt } from './receiptEvidence.ts'
import { countedKeys, countSigners, isWatcher, type Revocations, type Standing, standingOf } from './signers.ts'
import { kindsOf, type ReadSummary, summaryProblem } from './summary.ts'

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
  /** What he was sold: the box is held against that, whatever its signer was told. */
  readonly claim?: string | undefined
  /** Kinds of evidence beside those of Proof of GPU, by predicate type: receipts of works. */
  readonly kinds?: Readonly<Record<string, Opener>> | undefined
  /** Judges evidence of hardware vendors; without it such evidence is said to be unchecked. */
  readonly attestation?: AttestationReader
  /** The rule of `core/bytes/ed25519.ts` on a faster library. */
  readonly checkSignature?: CheckSignature | undefined
}

export interface CheckedCertificate extends JudgementCheck {
  readonly kind: 'certificate'
  /** `ours`, held against the reader's own claim where he has one (attack 202). */
  readonly answer: Judgement
  readonly isReadersClaim: boolean
  /** Why what holds is still not established. */
  readonly doubts: readonly Doubt[]
  readonly read: ReadCertificate
  /** C where nothing attests, null where something does that was not checked. */
  readonly tier: Tier | null
}

/** Evidence that a hardware vendor signed, by itself. */
export interface CheckedAttestation {
  readonly kind: 'attestation'
  readonly problem: null
  readonly doubts: readonly Doubt[]
  readonly bundle: CheckedBundle
}

/** A summary by itself; nothing in it can be recomputed. */
export interface CheckedSummary {
  readonly kind: 'summary'
  readonly problem: null
  readonly doubts: readonly Doubt[]
  readonly read: ReadSummary
}

/** A receipt of a work: every drawn patch was recomputed. */
export interface CheckedReceipt {
  readonly kind: 'receipt'
  readonly problem: CertificateProblem | null
  readonly doubts: readonly Doubt[]
  readonly read: ReadReceipt
  /** `replayed`: segments that were run again from the inputs on. */
  readonly figures: ReceiptFigures & { readonly replayed: number }
  /** What it shows of the work, in words. */
  readonly guarantees: readonly string[]
  /** A file of the result is what it commits to. */
  readonly isResultTied: boolean
  /** What it was made of is what its reader handed in. */
  readonly areInputsTied: boolean
  /** Somebody whom its reader trusts, and who is not the prover, drew what was looked at. */
  readonly isWatched: boolean
  /** How fast it was, beside how fast its box was proven to be; null where nobody asked. */
  readonly clock: ClockBound | null
}

/** A product proven by sumcheck, against A, B and C as its reader has them. */
export interface CheckedProduct {
  readonly kind: 'product'
  readonly problem: CertificateProblem | null
  readonly doubts: readonly Doubt[]
  readonly read: ReadProduct
  readonly figures: {
    readonly operations: number
    readonly liveShare: number
    readonly credited: number
    readonly proofBytes: number
    /** log2 of the chance that a wrong product passes, for one try (W8.6). */
    readonly log2Error: number
  }
}

/** Answers of a private model, shown to be those of the weights that were committed to. */
export interface CheckedAnswer {
  readonly kind: 'answer'
  readonly problem: CertificateProblem | null
  readonly doubts: readonly Doubt[]
  readonly read: ReadAnswer
}

export type CheckedEvidence =
  | CheckedCertificate
  | CheckedReceipt
  | CheckedProduct
  | CheckedAnswer
  | CheckedSummary
  | CheckedAttestation
  | { readonly kind: 'refused'; readonly problem: CertificateProblem; readonly doubts: readonly [] }

/** Clocks of honest machines differ. */
export const CLOCK_SKEW_MS = 5 * 60 * 1000

export const refused = (problem: CertificateProblem): CheckedEvidence => ({ kind: 'refused', problem, doubts: [] })

/** What a reader was sold is compared with nothing but a run: any other file would be told by what its signer was (attack 454). */
export const heldAgainst = (claim: string | null | undefined, checked: CheckedEvidence): CheckedEvidence =>
  !claim || checked.kind === 'certificate' || checked.problem ? checked : refused({ code: 'NOT_A_CERTIFICATE' })

/** Recomputes openings of a run: all of them or a sample, here or on other threads. */
export type CheckOpenings = (run: Run) => RejectReason | null | Promise<RejectReason | null>

/**
 * The whole check of a signed file: what it says must follow from its evidence under the rules and the catalogue it was
 * issued under, and a reader with today's rules and his own catalogue must come to the same end.
 */
export async function checkCertificate(
  file: Uint8Array,
  rules: ReaderRules,
  checkOpenings: CheckOpenings,
): Promise<CheckedEvidence> {
  if (file.length > MAX_CERTIFICATE_BYTES) return refused(tooLarge(file.length))
  if (rules.attestation?.reads(file)) return await checkAttestation(file, rules.attestation, rules)
  const trusts = (key: Uint8Array) => rules.trusted.some((other) => equalBytes(other, key))
  const opened = openEvidence(takeApart(file), trusts, rules.checkSignature, rules.kinds)
  if (isProblem(opened)) return refused(opened)
  const { read } = opened
  const signed = signersOf(read, trusts, rules)
  const asked = signed.problem ?? requirementProblem(read, rules)
  if (asked) return refused(asked)
  const checked = watchedBy(trusts, rules, await opened.check(rules, checkOpenings))
  if (checked.problem) return checked
  return { ...checked, doubts: [...signed.doubts, ...validityDoubts(read, rules), ...checked.doubts] }
}

/** A prover that signs for itself has nobody who listened, whatever it says (attack 414), and chose what is credited (attack 450). */
function watchedBy(
  trusts: (key: Uint8Array) => boolean,
  { revocations }: ReaderRules,
  checked: CheckedEvidence,
): CheckedEvidence {
  if (checked.kind !== 'receipt') return checked
  const { signerKeys, receipt } = checked.read
  const { drawnBy, proverKey, issuedAt } = receipt
  const watched = (key: Uint8Array) => trusts(key) && isWatcher(key, proverKey, issuedAt, revocations)
  const isWatched = drawnBy === 'listener' && signerKeys.some(watched)
  return { ...checked, isWatched, doubts: [...(isWatched ? [] : [{ code: 'SELF_DRAWN' } as const]), ...checked.doubts] }
}

async function checkAttestation(
  file: Uint8Array,
  reader: AttestationReader,
  { nowMs, required, threshold, prover, maxAgeSeconds }: ReaderRules,
): Promise<CheckedEvidence> {
  // No validator has signed it, it is of no prover, and nobody says when it was made: whoever asks for one means another file (attack 168).
  if (required[0]) return refused({ code: 'WRONG_SIGNER', expected: toHex(required[0]) })
  if (threshold > 1) return refused({ code: 'TOO_FEW_SIGNERS', expected: threshold, got: 0 })
  if (prover) return refused({ code: 'WRONG_PROVER', got: 'none', expected: toHex(prover) })
  if (maxAgeSeconds !== null) return refused(tooOld('no time of issue', maxAgeSeconds))
  const bundle = await reader.checkFile(file, nowMs)
  if ('code' in bundle) return refused({ code: 'ATTESTATION_REFUSED', refusal: bundle })
  return { kind: 'attestation', problem: null, doubts: bundle.doubts, bundle }
}

/** C10: a summary with its certificate. Everything is checked, and the summary must follow from it. */
export async function checkSummary(
  file: Uint8Array,
  full: Uint8Array,
  rules: ReaderRules,
  checkOpenings: CheckOpenings,
): Promise<CheckedEvidence> {
  // How many must have signed is asked of the certificate.
  const summary = await checkCertificate(file, { ...rules, threshold: 1 }, checkOpenings)
  if (summary.kind === 'refused') return summary
  if (summary.kind !== 'summary') return refused({ code: 'NOT_A_SUMMARY' })
  const checked = await checkCertificate(full, rules, checkOpenings)
  if (checked.kind !== 'certificate' && checked.kind !== 'refused') return refused({ code: 'NOT_A_SUMMARY' })
  if (checked.kind === 'refused') return checked
  const problem = checked.problem ?? summaryProblem(summary.read, checked.read, takeApart(full).line)
  if (problem) return { ...checked, problem, doubts: [] }
  return { ...checked, doubts: [...checked.doubts, ...summaryDoubts(summary, checked)] }
}

/** The score is the word of whoever signed the summary, and the names in it are those of the signer's catalogue. */
function summaryDoubts(summary: CheckedSummary, { ours, doubts }: CheckedCertificate): Doubt[] {
  const known = doubts.map(({ code }) => code)
  const itsOwn = summary.doubts.filter(({ code }) => code !== 'SUMMARY_ALONE' && !known.includes(code))
  if (known.includes('CATALOGUES_DIFFER') || known.includes('RULES_DIFFER')) return itsOwn
  const kinds = kindsOf(ours)
  // What the signer did not know is nothing he said.
  const isFound = ({ name, count }: (typeof kinds)[number]) =>
    name === null || kinds.some((kind) => kind.name === name && kind.count >= count)
  const { models } = summary.read.statement.predicate
  return models.every(isFound) ? itsOwn : [...itsOwn, { code: 'CATALOGUES_DIFFER', where: 'models' }]
}

/** Whether enough trusted keys vouch for it, and those that were asked for. */
function signersOf(
  { signerKeys, statement }: Evidence,
  trusts: (key: Uint8Array) => boolean,
  rules: ReaderRules,
): { readonly problem: CertificateProblem | null; readonly doubts: readonly Doubt[] } {
  const { threshold, required, revocations } = rules
  const refusing = (problem: CertificateProblem) => ({ problem, doubts: [] })
  const are = (keys: readonly Uint8Array[], standing: Standing) =>
    keys.filter((key) => standingOf(key, statement.predicate.issuedAt, revocations) === standing)
  const missing = required.find((key) => !signerKeys.some((signer) => equalBytes(signer, key)))
  if (missing) return refusing({ code: 'WRONG_SIGNER', expected: toHex(missing) })
  const counted = signerKeys.filter(trusts)
  const [ended] = are([...required, ...counted], 'bad')
  const usable = countSigners([...are(counted, 'good'), ...are(counted, 'doubtful')], revocations)
  if (are(required, 'bad').length > 0 || (ended && usable < threshold))
    return refusing({ code: 'SIGNER_REVOKED', where: toHex(ended!) })
  if (usable < threshold) return refusing({ code: 'TOO_FEW_SIGNERS', expected: threshold, got: usable })
  const good = countedKeys(signerKeys, statement.predicate.issuedAt, rules)
  const doubtful = good.length < threshold || are(required, 'doubtful').length > 0
  return { problem: null, doubts: doubtful ? [{ code: 'SIGNER_REVOKED_SINCE' }] : [] }
}

const tooOld = (got: string, seconds: number): CertificateProblem => ({
  code: 'TOO_OLD',
  got,
  expected: `at most ${seconds} s ago`,
})

/** What the reader asked of age and identity. */
function requirementProblem(
  { statement }: Evidence,
  { nowMs, prover, maxAgeSeconds }: ReaderRules,
): CertificateProblem | null {
  const { issuedAt } = statement.predicate
  const proverKey = statement.subject[1].digest.ed25519
  const ageMs = nowMs - toMillis(issuedAt)
  if (ageMs < -CLOCK_SKEW_MS) return { code: 'FROM_THE_FUTURE', got: issuedAt, expected: toInstant(nowMs) }
  if (maxAgeSeconds !== null && ageMs > 1000 * maxAgeSeconds) return tooOld(issuedAt, maxAgeSeconds)
  if (prover && toHex(prover) !== proverKey) return { code: 'WRONG_PROVER', got: proverKey, expected: toHex(prover) }
  return null
}

function validityDoubts({ statement: { predicate } }: Evidence, { nowMs }: ReaderRules): Doubt[] {
  const { notAfter } = predicate
  return nowMs > toMillis(notAfter) ? [{ code: 'EXPIRED', where: notAfter }] : []
}
