import { equalBytes } from '../bytes/bytes.ts'
import type { Signer } from '../bytes/ed25519.ts'
import type { RunPatch } from '../work/checkPatch.ts'
import { checkReceipt, type ReceiptProblem } from '../work/checkReceipt.ts'
import type { CheckerEngines } from '../work/methods/step/checkStep.ts'
import { PROVEN_GUARANTEES, type ProofProblem, requireProvable, stepsChecker } from '../work/methods/step/provenWork.ts'
import {
  provenSchema,
  type Receipt,
  type ReceiptStatement,
  receiptOf,
  receiptSchema,
  stateReceipt,
} from '../work/receipt.ts'
import { WorkRefusal } from '../work/refusals.ts'
import type { Replayed } from '../work/replayWork.ts'
import { openWork, type Work } from '../work/work.ts'
import type { WorkKernels } from '../work/workKernels.ts'
import { WORK_KINDS } from '../work/workKinds.ts'
import { EXACT_OPS } from '../work/workOps.ts'
import type { WorkProblem } from '../work/workProblems.ts'
import type { CheckedReceipt } from './checkCertificate.ts'
import { sealReceipt } from './envelope.ts'
import type { CertificateProblem } from './problems.ts'
import type { Opener } from './readEvidence.ts'
import { receiptOpener } from './receiptOpener.ts'
import { receiptTimesProblem } from './receiptTimes.ts'

/** A receipt whose signature fits, and the work it is about. Nothing in it was recomputed yet. */
export interface ReadReceipt {
  readonly kind: 'receipt'
  readonly signerKeys: readonly Uint8Array[]
  readonly statement: ReceiptStatement
  readonly receipt: Receipt
  readonly work: Work<WorkKernels>
}

/** What a reader can do who has the inputs of the work. */
export interface WithInputs {
  /** The work with its inputs at hand: patches that read all of one can be recomputed. */
  hold(work: Work<WorkKernels>): Promise<Work<WorkKernels>>
  /** Runs the whole work again. */
  replay?(read: ReadReceipt): Promise<Replayed>
}

/** Files of a reader's own: what came of the work, and what it was made of. */
export interface OwnFiles {
  readonly hasResult: boolean
  /** W4.7. Why one of them is not what the receipt commits to; null where all are. Throws where that cannot be told. */
  problemWith(read: ReadReceipt): Promise<CertificateProblem | null>
  /** W4.7.7. What he would type to hand in what the work was made of; null where it was compared. */
  lacking(work: Work<WorkKernels>): string | null
}

/** Receipts of works, judged with kernels that recompute patches; they are opened where there is something to recompute. */
export const receiptKind = (
  openKernels: () => Promise<RunPatch>,
  inputs: WithInputs | null = null,
  own: OwnFiles | null = null,
): Opener =>
  receiptOpener(receiptSchema, readReceipt, async (read) =>
    tie(read, await checkWork(read, { runPatch: await openKernels() }, inputs), own),
  )

/** W12.5. The same where transitions were proven: these take engines of their own. */
export const provenKind = (
  openKernels: () => Promise<Required<CheckingKernels>>,
  inputs: WithInputs | null = null,
  own: OwnFiles | null = null,
): Opener =>
  receiptOpener(provenSchema, readReceipt, async (read) =>
    tie(read, await checkWork(read, await openKernels(), inputs), own),
  )

/** What a check recomputes with. */
interface CheckingKernels {
  readonly runPatch: RunPatch
  readonly engines?: CheckerEngines
}

type CheckedWork = Omit<CheckedReceipt, 'isResultTied' | 'areInputsTied' | 'isWatched' | 'clock'>

/** Who watched, and by which clock, follows from whom its reader trusts. */
const UNASKED = { isWatched: false, clock: null } as const

/** Whoever asks about a result says what it is the result of (attack 360). */
async function tie(read: ReadReceipt, checked: CheckedWork, own: OwnFiles | null): Promise<CheckedReceipt> {
  if (!own || checked.problem) return { ...checked, ...UNASKED, isResultTied: false, areInputsTied: false }
  const problem = await own.problemWith(read)
  const lacking = own.lacking(read.work)
  const open = own.hasResult
    ? [
        ...(lacking === null ? [] : [{ code: 'OPERANDS_NOT_AT_HAND', where: lacking } as const]),
        ...(checked.figures.replayed > 0 ? [] : [RESULT_NOT_SHOWN]),
      ]
    : []
  const tied = { isResultTied: own.hasResult && !problem, areInputsTied: lacking === null && !problem }
  return { ...checked, problem, doubts: [...checked.doubts, ...open], ...UNASKED, ...tied }
}

/** Attack 448: one wrong step that was not drawn makes another result. */
const RESULT_NOT_SHOWN = { code: 'RESULT_NOT_SHOWN' } as const

function readReceipt(
  statement: ReceiptStatement,
  signerKeys: readonly Uint8Array[],
  evidence: Uint8Array,
): ReadReceipt | CertificateProblem {
  const receipt = receiptOf(statement, evidence)
  if (!receipt) return { code: 'MALFORMED', where: 'evidence' }
  const wrongTimes = receiptTimesProblem(receipt)
  if (wrongTimes) return wrongTimes
  // Who drew for himself signs for himself.
  const isOwn = signerKeys.some((key) => equalBytes(key, receipt.proverKey))
  const isSelfDrawn = receipt.drawnBy === 'device'
  if (isSelfDrawn && !isOwn) return { code: 'WRONG_SUBJECT', where: 'signer' }
  // Nobody listened: there is no clock but its own (attack 397).
  if (isSelfDrawn && receipt.elapsedUs !== null) return { code: 'MALFORMED', where: 'elapsedUs' }
  const { spec: text, orderId, seed } = receipt
  try {
    const work = openWork(WORK_KINDS, EXACT_OPS, { text, orderId, seed })
    if (receipt.proven) requireProvable(work, receipt.proven.products)
    return { kind: 'receipt', signerKeys, statement, receipt, work }
  } catch (refusal) {
    if (!(refusal instanceof WorkRefusal)) throw refusal
    return { code: 'BAD_WORK', where: refusal.message }
  }
}

const INPUTS_NEEDED = { code: 'INPUTS_NEEDED' } as const
/** W4.5 (attack 161). */
const DEAD_WORK = { code: 'DEAD_WORK' } as const

async function checkWork(
  read: ReadReceipt,
  { runPatch, engines }: CheckingKernels,
  inputs: WithInputs | null,
): Promise<CheckedWork> {
  const work = inputs ? await inputs.hold(read.work) : read.work
  const shown = checkReceipt(work, read.receipt, runPatch, engines && stepsChecker(engines, work))
  const replayed = shown.problem === null && inputs?.replay ? await inputs.replay(read) : null
  // Who lacks the inputs can say nothing against the receipt.
  const isBlind = shown.problem?.code === 'INPUT_NOT_HELD'
  const problem = (isBlind ? null : shown.problem) ?? replayed?.problem ?? null
  const { figures } = shown
  const unpaid = figures.credited > 0 ? [] : [isBlind ? INPUTS_NEEDED : DEAD_WORK]
  return {
    kind: 'receipt',
    problem: problem && { code: 'WORK_NOT_SHOWN', where: placeOf(problem) },
    doubts: unpaid,
    read,
    figures: { ...figures, replayed: replayed?.segments ?? 0 },
    guarantees: [...work.guarantees, ...(figures.proven ? PROVEN_GUARANTEES : [])],
  }
}

/** Where it went wrong, in words. */
function placeOf(problem: ReceiptProblem): string {
  return 'proven' in problem ? placeInProof(problem) : placeInOpening(problem)
}

function placeInProof({ code, proven, step, tensor, sequence }: ProofProblem): string {
  const inside = [step && `step ${step}`, tensor && `tensor ${tensor}`]
  const of = sequence === undefined ? null : `sequence ${sequence}`
  return [code, `proof of transition ${proven}`, of, ...inside].filter(Boolean).join(', ')
}

function placeInOpening({ code, segment, transition, step }: WorkProblem): string {
  const at = segment === undefined ? [] : [segment < 0 ? 'at the beginning' : `segment ${segment}`]
  const inside = transition === undefined ? [] : [`transition ${transition} of it`, `step ${step}`]
  return [code, ...at, ...inside].join(', ')
}

/** A receipt as a signed file that anyone checks offline. */
export const issueReceipt = (receipt: Receipt, signer: Signer): Uint8Array => sealReceipt(stateReceipt(receipt), signer)
