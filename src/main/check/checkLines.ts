import type { Tier } from '../../core/attest/checkBundle.ts'
import { boxWords } from '../../core/bytes/boxWords.ts'
import { toHex } from '../../core/bytes/hex.ts'
import type {
  CheckedAnswer,
  CheckedAttestation,
  CheckedCertificate,
  CheckedProduct,
  CheckedReceipt,
  CheckedSummary,
} from '../../core/certificate/checkCertificate.ts'
import type { ClockBound } from '../../core/certificate/clockBound.ts'
import { DOUBTS } from '../../core/certificate/doubts.ts'
import type { ReadCertificate } from '../../core/certificate/readCertificate.ts'
import type { Evidence } from '../../core/certificate/readEvidence.ts'
import { reportOfCheck } from '../../core/certificate/reportOfCheck.ts'
import type { CheckReport } from '../../core/certificate/reportSchemas.ts'
import { countedKeys } from '../../core/certificate/signers.ts'
import { placeOf } from '../../core/certificate/statement.ts'
import { catalogueHash } from '../../core/identify/catalogue.ts'
import { PRECISION_NAMES } from '../../core/params/precision.ts'
import { formatAge, formatBytes, withPrefix } from '../../core/units/format.ts'
import { toMillis } from '../../core/units/instants.ts'
import { answerLines, closingLines, doubtText } from '../render/answer.ts'
import { TIERS } from '../render/attestedLines.ts'
import { labelled } from '../render/labelled.ts'
import { speedScale, speedText } from '../render/speed.ts'
import type { Terminal } from '../render/terminal.ts'
import { verdictLines } from '../render/verdictLines.ts'
import { askedOf, askedText } from '../work/askedOf.ts'
import { courseLines, courseOf } from '../work/figures.ts'
import { answerOfCheck, chanceText, provenText, type ShownCheck, segmentsText, sizesOf } from './checkAnswer.ts'

/** Where it is shown. */
interface Page extends Pick<Terminal, 'colours' | 'columns'> {
  readonly isVerbose: boolean
}

/** What a check found, for a person: the answer, whose it is and how old, what was recomputed, and the answer again. */
export function checkLines(shown: ShownCheck, page: Page, written: readonly string[]): string[] {
  const { checked } = shown
  const answer = answerOfCheck(shown, page.isVerbose)
  const top = answerLines(answer, page)
  if (checked.problem) return top
  const others = checked.doubts.slice(answer.verdict === 'not-established' ? 1 : 0)
  const also = [
    ...others.map((doubt) => `${doubtText(doubt)}. ${DOUBTS[doubt.code].nextStep}`),
    ...(shown.newlineAdded ? ['the final newline was missing; the file was read as if it were there'] : []),
  ]
  return [
    ...top,
    ...also.flatMap((text) => labelled('also', text, 7, page.columns)),
    '',
    ...evidenceLines(shown, page),
    ...written,
    ...closingLines(answer, page),
  ]
}

function evidenceLines(shown: ShownCheck, page: Page): string[] {
  const { checked } = shown
  if (checked.kind === 'certificate') return certificateLines(shown, checked, page)
  if (checked.kind === 'summary') return summaryLines(shown, checked)
  if (checked.kind === 'receipt') return receiptLines(shown, checked)
  if (checked.kind === 'product') return productLines(shown, checked)
  if (checked.kind === 'answer') return privateLines(shown, checked)
  return checked.kind === 'attestation' ? attestationLines(shown.file, checked) : []
}

function certificateLines(
  shown: ShownCheck,
  { read, recomputed, answer, tier }: CheckedCertificate,
  { colours, isVerbose }: Page,
): string[] {
  const { file, openings, catalogue } = shown
  const { predicate } = read.statement
  const { judgement, claims } = predicate
  const own = catalogueHash(catalogue)
  const same = judgement.catalogue === own ? 'yours too' : `yours ${own.slice(0, 16)}`
  const judged = { judgement: answer, preset: read.preset.name, faults: [], ...claims }
  return [
    ...labelled('file', file),
    ...timeLines(predicate, shown.nowMs),
    ...labelled('checked', `${openings.checked} of ${openings.all} openings, all figures and signatures`),
    ...whoLines(read, shown),
    ...labelled('attestation', tierText(read, tier)),
    ...labelled('judged by', `catalogue ${judgement.catalogue.slice(0, 16)}, ${same}`),
    ...(recomputed ? [] : [colours.yellow("  the signer's catalogue is not available: this verdict uses yours alone")]),
    ...verdictLines(judged, { catalogue, colours, isVerbose }),
    ...(isVerbose ? SIGNER_VOUCHES.map((text) => colours.dim(`  ${text}`)) : []),
  ]
}

const timeLines = (
  { issuedAt, notAfter }: { readonly issuedAt: string; readonly notAfter: string },
  nowMs: number,
): string[] => [
  ...labelled('issued', `${issuedAt}, ${formatAge((nowMs - toMillis(issuedAt)) / 1000)} before this check`),
  ...labelled('valid until', notAfter),
]

const SIGNER_VOUCHES = [
  'The signer vouches for the times, for the freshness of seeds and nonces, for',
  'the claims, and that every card of the box was asked.',
]

/** What the signer says, in a few lines. */
function summaryLines(shown: ShownCheck, { read }: CheckedSummary): string[] {
  const { subject, predicate } = read.statement
  const { claim, memory, score } = predicate
  const models = predicate.models.map(({ name, count }) => `${count} x ${name ?? 'unknown'}`).join(', ')
  const scale = speedScale(...Object.values(predicate.rates))
  return [
    ...labelled('summary', shown.file),
    ...timeLines(predicate, shown.nowMs),
    ...labelled('run', predicate.runId),
    ...labelled('prover', subject[1].digest.ed25519),
    ...signerLines(read, shown),
    ...labelled('certificate', subject[0].digest.sha256),
    ...labelled('said', `${predicate.outcome}, ${models || 'no card'} (${predicate.preset})`),
    ...labelled('claim', claim && `${boxWords(claim.text)}: ${claim.verdict}`),
    ...PRECISION_NAMES.flatMap((name) => {
      const rate = predicate.rates[name]
      return rate === undefined ? [] : labelled(`${name} speed`, `${speedText(rate, name, scale)} together`)
    }),
    ...labelled(`memory ${memory?.status}`, memory && `${formatBytes(memory.heldBytes)} together`),
    ...labelled('score', score === undefined ? null : String(score)),
  ]
}

/** What was computed, what was looked at, and what that shows. */
function receiptLines(shown: ShownCheck, checked: CheckedReceipt): string[] {
  const { read, figures, guarantees, isResultTied, areInputsTied, clock } = checked
  const { receipt, work } = read
  const drawn = `${figures.patches} patches of ${segmentsText(work, figures)}`
  return [
    ...labelled('receipt', shown.file),
    ...timeLines(receipt, shown.nowMs),
    ...labelled('work', toHex(receipt.workId)),
    ...labelled('kind', `${work.spec.kind}, ${figures.transitions} transitions`),
    ...labelled('asked', askedText(askedOf(work.spec))),
    ...labelled('operations', `${withPrefix(figures.credited)} credited of ${withPrefix(figures.operations)}`),
    ...labelled('looked at', drawn),
    ...labelled('proven', figures.proven && `${provenText(figures.proven)}; ${formatBytes(figures.proven.proofBytes)}`),
    ...labelled(
      'replayed',
      figures.replayed > 0
        ? `${figures.replayed} of ${figures.segments} segments, run again here: every state is right`
        : null,
    ),
    ...courseLines(courseOf(work, receipt.marks, figures.replayed > 0)),
    ...labelled('inputs', areInputsTied ? YOUR_INPUTS : ITS_OWN_INPUTS),
    ...labelled('result', isResultTied ? 'the file you named is what the receipt commits to' : null),
    ...labelled('speed', clock && clockText(clock)),
    ...labelled('device', `claimed: ${boxWords(receipt.device)}`),
    ...labelled('prover', toHex(receipt.proverKey)),
    ...signerLines(read, shown),
    ...guarantees.flatMap((text) => labelled('shows', text)),
  ]
}

const YOUR_INPUTS = 'what it was made of is what you handed in; what was asked of it is for you to compare'
const ITS_OWN_INPUTS =
  "what it was made of, and what was asked, is the receipt's own word for what was ordered: nothing of yours was compared"

function clockText({ precision, perSecond, provenPerSecond }: ClockBound): string {
  const share = ((100 * perSecond) / provenPerSecond).toPrecision(3)
  return `${speedText(perSecond, precision)} by its watcher's clock, ${share} % of the ${speedText(provenPerSecond, precision)} proven`
}

/** What was proven, of what, and how surely. */
function productLines(shown: ShownCheck, { read, figures }: CheckedProduct): string[] {
  const { receipt } = read
  return [
    ...labelled('receipt', shown.file),
    ...timeLines(receipt, shown.nowMs),
    ...labelled('work', toHex(receipt.workId)),
    ...labelled('kind', `matmul, ${sizesOf(read)}`),
    ...labelled('operations', `${withPrefix(figures.credited)} credited of ${withPrefix(figures.operations)}`),
    ...labelled(
      'proof',
      `sumcheck, ${figures.proofBytes} bytes; error at most ${chanceText(figures.log2Error)} for each transcript that was tried`,
    ),
    ...(receipt.codes ?? []).flatMap((code, i) => labelled(`code of ${'AB'[i]}`, toHex(code))),
    ...labelled('device', `claimed: ${boxWords(receipt.device)}`),
    ...labelled('prover', toHex(receipt.proverKey)),
    ...signerLines(read, shown),
  ]
}

/** Which model answered, and what its scores are. */
function privateLines(shown: ShownCheck, { read }: CheckedAnswer): string[] {
  const { receipt } = read
  const { rows, columns, c } = receipt.product
  const scores = 'open' in c ? c.open : []
  const ofInput = (input: number) => Array.from({ length: rows }, (_, i) => scores[i * columns + input])
  return [
    ...labelled('receipt', shown.file),
    ...timeLines(receipt, shown.nowMs),
    ...labelled('model', toHex(receipt.modelId)),
    ...Array.from({ length: Math.min(columns, MOST_SHOWN) }, (_, i) => ofInput(i).slice(0, 2 * MOST_SHOWN)).flatMap(
      (row, i) => labelled(i === 0 ? 'scores' : '', `${row.join(' ')}${rows > row.length ? ' …' : ''}`),
    ),
    ...labelled('proof', `zero knowledge, ${receipt.proof.length} bytes`),
    ...signerLines(read, shown),
  ]
}

const MOST_SHOWN = 8

function whoLines(read: ReadCertificate, shown: ShownCheck): string[] {
  const { run, statement } = read
  const { runId, proverKey, validatorKey } = run.challenge
  const { anchor } = statement.predicate
  const place = placeOf(statement.predicate)
  return [
    ...labelled('run', toHex(runId)),
    ...labelled('box', place && `${place}, as the signer says: nothing shows it (claimed)`),
    ...labelled('prover', toHex(proverKey)),
    ...signerLines(read, shown, toHex(validatorKey)),
    ...labelled(
      'anchored in',
      anchor ? `${boxWords(anchor.chain)}: look up the blocks there; this check did not` : null,
    ),
  ]
}

/** Who signed: of a key that counts for nothing that it does not, of one that counts as a successor whose it is. */
const signerLines = (
  { signerKeys, statement }: Evidence,
  { successorOf, ...reader }: ShownCheck,
  first?: string,
): string[] => {
  const counted = countedKeys(signerKeys, statement.predicate.issuedAt, reader).map(toHex)
  return signerKeys.map(toHex).flatMap((key) => {
    const label = first === undefined || key === first ? 'signed by' : 'counter-signed'
    if (!counted.includes(key)) return labelled(label, `${key}, ${COUNTS_FOR_NOTHING}`)
    return labelled(label, successorOf.has(key) ? `${key} successor of ${successorOf.get(key)}` : key)
  })
}

const COUNTS_FOR_NOTHING =
  'which counts for nothing: not a key that you trust, one that has ended or was revoked later, or another of the same signer'

/** Nothing is said where nothing attests: that is how most cards are. */
function tierText({ statement }: ReadCertificate, tier: Tier | null): string | null {
  const { attestation } = statement.predicate
  if (!attestation) return null
  return tier === null ? `${attestation.format}, which this version does not check` : TIERS[tier]
}

/** Evidence of a hardware vendor by itself: which chips, and which software. */
const attestationLines = (file: string, { bundle }: CheckedAttestation): string[] => [
  ...labelled('file', file),
  ...bundle.devices.flatMap(({ model, pdi, driver, vbios }) => {
    const software = [driver === null ? '' : `driver ${driver}`, vbios === null ? '' : `firmware ${vbios}`]
    return labelled('chip', [`${model} ${pdi}`, ...software].filter(Boolean).join(', '))
  }),
  ...labelled('machine', bundle.cpu && `${bundle.cpu.kind} image ${bundle.cpu.measurement}`),
]

/** The same for a script. */
export const checkJson = ({ file, successorOf, ...shown }: ShownCheck) => ({
  file,
  ...withSuccessorOf(reportOfCheck(shown), successorOf),
  ...(shown.checked.kind === 'receipt' ? { asked: askedOf(shown.checked.read.work.spec) } : {}),
})

function withSuccessorOf(report: CheckReport, successorOf: ShownCheck['successorOf']): CheckReport {
  if (!('signers' in report)) return report
  const counted = report.signers.filter((key) => successorOf.has(key))
  if (counted.length === 0) return report
  return { ...report, successorOf: Object.fromEntries(counted.map((key) => [key, successorOf.get(key)!])) }
}
