import { toHex } from '../../core/bytes/hex.ts'
import type {
  CheckedAnswer,
  CheckedAttestation,
  CheckedProduct,
  CheckedReceipt,
  CheckedSummary,
} from '../../core/certificate/checkCertificate.ts'
import { DOUBTS } from '../../core/certificate/doubts.ts'
import type { CertificateProblem } from '../../core/certificate/problems.ts'
import { type Checked, explainProblem, type OpeningCount } from '../../core/certificate/reportOfCheck.ts'
import { askedDevicesOf } from '../../core/certificate/statement.ts'
import { type Verdict, verdictOf, verdictOfCheck } from '../../core/certificate/verdict.ts'
import type { Catalogue } from '../../core/identify/catalogue.ts'
import { explainReason } from '../../core/proof/reasons.ts'
import { withPrefix } from '../../core/units/format.ts'
import type { ProvenFigures } from '../../core/work/methods/step/provenWork.ts'
import {
  type Answer,
  answerOfRest,
  doubted,
  headOf,
  leftOutOf,
  soldText,
  TEST_THE_CARDS,
  WORDS,
} from '../render/answer.ts'
import { failedDevices } from '../render/verdictLines.ts'

/** A check, and the file as the reader named it. */
export interface ShownCheck extends Checked {
  readonly file: string
  /** Of each key that counts as a successor, the one it took over from. */
  readonly successorOf: ReadonlyMap<string, string>
}

/** As for the run itself, unless the file is refused or something leaves it open. */
export function answerOfCheck({ checked, openings, catalogue, file }: ShownCheck, isVerbose: boolean): Answer {
  if (checked.problem) return refusal(file, checked.problem)
  const verdict = verdictOfCheck(checked)
  if (checked.kind === 'summary')
    return verdict === 'not-established'
      ? doubted(checked.doubts[0]!, null)
      : spokenAgainst(checked, verdict, catalogue)
  if (checked.kind === 'attestation')
    return verdict === 'genuine' ? attested(checked) : doubted(checked.doubts[0]!, headOf(attested(checked)))
  if (checked.kind === 'receipt')
    return verdict === 'genuine' ? worked(checked) : doubted(checked.doubts[0]!, headOfWork(checked))
  if (checked.kind === 'product') return verdict === 'genuine' ? multiplied(checked) : doubted(checked.doubts[0]!, null)
  if (checked.kind === 'answer') return verdict === 'genuine' ? answered(checked) : doubted(checked.doubts[0]!, null)
  const { predicate } = checked.read.statement
  const leftOut = leftOutOf(checked.answer, askedDevicesOf(predicate), predicate.claims.inventory)
  const failed = failedDevices({ faults: [], ...predicate.claims }).length
  // What was not sold was not sold, also where today's rules would reject the run.
  const isNo = verdict === 'not-as-claimed'
  const judgement = isNo ? { ...checked.answer, outcome: 'accepted' as const, reason: null } : checked.answer
  const judged = { judgement, preset: checked.read.preset.name, leftOut, failed }
  const rest = answerOfRest({ ...judged, catalogue, file, isVerbose })
  const answer = openings.checked < openings.all ? sampled(rest, openings) : rest
  if (verdict === 'not-established')
    return verdictOf(checked.answer) === verdict
      ? { ...answer, now: DOUBTS[checked.doubts[0]!.code].nextStep }
      : doubted(checked.doubts[0]!, headOf(answer))
  if (openings.checked < openings.all) return answer
  if (leftOut !== null) return { ...answer, now: TEST_THE_CARDS }
  return { ...answer, now: NOW[verdict] ?? answer.now }
}

const NOW: Partial<Record<Verdict, string>> = {
  'as-claimed': 'Rely on it as far as you trust its signer, who vouches for the times and the claim.',
  'not-as-claimed': 'Nobody should pay for it or offer it as sold; this file shows why.',
  genuine: 'It holds no claim: compare what was found with what was offered yourself.',
}

/** What its signer says of the box, which is nothing good. */
function spokenAgainst({ read }: CheckedSummary, verdict: Verdict, catalogue: Catalogue): Answer {
  const { outcome, claim } = read.statement.predicate
  const said =
    claim === null || outcome === 'rejected'
      ? 'the run was rejected'
      : `sold ${soldText(claim.text, catalogue)}: ${claim.verdict}`
  const now = 'Do not pay for it: its certificate, with --full FILE, shows why.'
  return { verdict, word: WORDS[verdict], text: `${said}, as its signer says`, why: null, now }
}

/** Nothing, where nothing was looked at. */
const headOfWork = (checked: CheckedReceipt): string | null =>
  checked.figures.patches > 0 ? headOf(worked(checked)) : null

/** A few openings are a look, not a check: it must not read like one. */
const sampled = (answer: Answer, { checked, all }: OpeningCount): Answer => ({
  ...answer,
  word: `${answer.word} BY A SAMPLE`,
  why: `only ${checked} of ${all} openings were recomputed; what was not looked at may be wrong`,
  now: 'Check it without --sample before you rely on it.',
})

/** Evidence of a hardware vendor by itself. */
const attested = ({ bundle }: CheckedAttestation): Answer => ({
  verdict: 'genuine',
  word: 'GENUINE',
  text: `${bundle.devices.length} x chip that its vendor vouches for (tier ${bundle.tier})`,
  why: 'these chips signed this nonce; that they did any work, and where they stand, is not shown',
  now: 'Verify the box to see what it does.',
})

/** A receipt of a work. */
const worked = ({ read, figures, isResultTied }: CheckedReceipt): Answer => ({
  verdict: 'genuine',
  word: 'WORK SHOWN',
  text: `${read.work.spec.kind}, ${figures.transitions} transitions, ${withPrefix(figures.credited)} operations`,
  why:
    figures.replayed > 0
      ? `all ${figures.replayed} segments were run again here, and each came to the state that was committed`
      : `${figures.patches} patches drawn by its watcher were recomputed here, and each is right${figures.proven ? `; ${figures.proven.transitions.length} of ${figures.transitions} transitions proven by sumcheck besides` : ''}`,
  now:
    figures.replayed > 0
      ? `What was committed to is exactly right, whoever signed${isResultTied ? ', and the result is that' : NOT_TIED}. For the times, and for who computed it, trust its signer.`
      : `Rely on it as far as you trust its signer, who vouches for the draws, for the times and for who computed it${isResultTied ? '' : NOT_TIED}.`,
})

const NOT_TIED = '; no file of the result was compared (--result FILE)'

/** A product proven by sumcheck. */
const multiplied = ({ read, figures }: CheckedProduct): Answer => ({
  verdict: 'genuine',
  word: 'PROVEN',
  text: `product of ${sizesOf(read)}, ${withPrefix(figures.credited)} operations`,
  why: `every entry of the result is right: a wrong one passes with a chance of at most ${chanceText(figures.log2Error)} a try`,
  now: 'The result is right, whoever signed. For the times, and for who computed it, trust the signer.',
})

/** Answers of a private model. */
const answered = ({ read: { receipt } }: CheckedAnswer): Answer => ({
  verdict: 'genuine',
  word: 'PROVEN',
  text: `${receipt.product.columns} answers of the model ${toHex(receipt.modelId)}`,
  why: 'every score is what the weights give that its owner committed to; nothing else of them is shown',
  now: 'It answers the input that you handed in; a file of scores is compared with --result. It holds as long as nobody solves discrete logarithms, whoever signed. For the times trust the signer.',
})

export const sizesOf = ({ product: { rows, columns, k } }: CheckedProduct['read']): string =>
  `${rows} x ${k} by ${k} x ${columns}`

/** Which segments were looked into; the making of the first state is always drawn and is no segment of its own. */
export function segmentsText(
  { isIndependent }: CheckedReceipt['read']['work'],
  { drawnSegments, segments }: Pick<CheckedReceipt['figures'], 'drawnSegments' | 'segments'>,
): string {
  const hasFirstState = !isIndependent && drawnSegments > 0
  return hasFirstState
    ? `the first state and ${drawnSegments - 1} of ${segments} segments`
    : `${drawnSegments} of ${segments} segments`
}

/** Which transitions were proven, of which products, and how surely. */
export function provenText({ products, transitions, log2Error }: ProvenFigures): string {
  const which = products === 'all' ? 'all products' : 'products that are sums over sequences'
  const numbers = transitions.join(' and ')
  return `transition${transitions.length > 1 ? 's' : ''} ${numbers} by sumcheck, ${which}; a wrong one passes with at most ${chanceText(log2Error)} a try`
}

/** Rounded up: never better than it is. */
export const chanceText = (log2Error: number): string => `2^-${Math.floor(-log2Error)}`

function refusal(file: string, problem: CertificateProblem): Answer {
  const { where, reason, got, expected, meaning, nextStep, code } = explainProblem(problem)
  const facts = [
    where,
    reason && explainReason(reason),
    got === undefined ? '' : `got ${got}`,
    expected === undefined ? '' : `expected ${expected}`,
  ]
  const detail = facts.filter(Boolean).join('; ')
  const text = `${file}: ${meaning}${detail ? ` (${detail})` : ''} [${reason?.code ?? code}]`
  return { verdict: 'rejected', word: 'REFUSED', text, why: null, now: nextStep }
}
