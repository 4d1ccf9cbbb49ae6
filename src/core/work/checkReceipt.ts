import { equalBytes } from '../bytes/bytes.ts'
import { toHex } from '../bytes/hex.ts'
import type { RunPatch } from './checkPatch.ts'
import { checkSegment } from './checkSegment.ts'
import { drawOpened, drawProven, drawTraced, seedOfSegment } from './drawWork.ts'
import { creditedOperations, LiveRule } from './liveRule.ts'
import type { CheckSteps, DrawnStep, ProofProblem, ProvenFigures } from './methods/step/provenWork.ts'
import { saidHash } from './methods/step/rest.ts'
import type { Receipt } from './receipt.ts'
import { linksOf } from './stateChain.ts'
import { endsOf, stepEnds, tracedSegment, traceRoot } from './trace.ts'
import { neededOfWork, operationsOfWork, type Work } from './work.ts'
import type { WorkProblem } from './workProblems.ts'

/** What a receipt shows once every drawn patch was recomputed. */
export interface ReceiptFigures {
  readonly transitions: number
  readonly segments: number
  readonly drawnSegments: number
  readonly patches: number
  /** By the definition of the work, all transitions. */
  readonly operations: number
  /** W4.5. The smallest share of live patches of any op, or of new states, and the operations that are credited for it. */
  readonly liveShare: number
  readonly credited: number
  /** W12.5. Of transitions that were proven, where a receipt has any. */
  readonly proven: ProvenFigures | null
}

/** Why a receipt is not believed: an opening of it, or a proof. */
export type ReceiptProblem = WorkProblem | ProofProblem

export interface CheckedReceipt {
  readonly problem: ReceiptProblem | null
  readonly figures: ReceiptFigures
}

/** What of a receipt is recomputed. */
export type ReceiptEvidence = Pick<Receipt, 'workId' | 'firstRoot' | 'marks' | 'nonces' | 'segments' | 'proven'>

/**
 * W4.3. The whole check of a receipt by openings, and of the proofs that it has besides (W12.5). The work was opened from the
 * receipt's own specification.
 */
export function checkReceipt<K>(
  work: Work<K>,
  receipt: ReceiptEvidence,
  runPatch: RunPatch,
  checkSteps: CheckSteps = neverChecked,
): CheckedReceipt {
  const operations = operationsOfWork(work)
  const none = { drawnSegments: 0, patches: 0, liveShare: 0, credited: 0, proven: null }
  const figures = { transitions: work.spec.transitions, segments: work.ends.length, operations }
  const refused = (problem: ReceiptProblem): CheckedReceipt => ({ problem, figures: { ...figures, ...none } })
  if (!equalBytes(work.workId, receipt.workId)) return refused({ code: 'OTHER_WORK' })
  if (receipt.marks.length !== work.ends.length) return refused({ code: 'ROOTS_MISSING' })
  const marks = receipt.marks.map((mark, i) => ({ ...mark, transition: work.ends[i]! }))
  const links = linksOf(work.workId, receipt.firstRoot, marks)
  const lastLink = links.at(-1)!
  const traced = drawTraced(work, lastLink, receipt.nonces[0])
  const steps = receipt.proven ? drawProven(work, lastLink, receipt.nonces[0]) : []
  if (!isJust(receipt.segments, traced) || !isJust(receipt.proven?.steps ?? new Map(), steps))
    return refused({ code: 'NOT_AS_DRAWN' })
  const segments = traced.map((segment) => tracedSegment(work, segment, endsOf(segment, receipt.firstRoot, marks)))
  const endsOfStep = (segment: number) => stepEnds(segment, receipt.firstRoot, marks)
  const traces = [
    ...segments.map((one) => traceRoot(one, receipt.segments.get(one.segment)!.stepsRoot)),
    ...steps.map((segment) => saidHash(receipt.proven!.steps.get(segment)!.said, endsOfStep(segment))),
  ]
  const draw = { lastLink, nonce: receipt.nonces[1], traces }
  const draws = drawOpened(work, { ...draw, traced: segments })
  const drawnStep = (segment: number): DrawnStep => ({
    segment,
    ends: endsOfStep(segment),
    nonce: seedOfSegment(draw, segment),
  })
  const live = new LiveRule(work.ops)
  const watching = live.watching(runPatch)
  let patches = 0
  for (const one of segments) {
    const { segment } = one
    const asked = draws.get(segment)!
    const problem = checkSegment(work, one, asked, receipt.segments.get(segment)!, watching)
    if (problem) return refused({ ...problem, segment })
    patches += asked.length
  }
  const proven = receipt.proven ? checkSteps(receipt.proven, steps.map(drawnStep)) : null
  if (proven && 'code' in proven) return refused(proven)
  const liveShare = Math.min(live.share, work.isIndependent ? 1 : newStates(receipt))
  const credited = creditedOperations(neededOfWork(work), liveShare, operations)
  const drawn = { drawnSegments: traced.length, patches, proven }
  return { problem: null, figures: { ...figures, ...drawn, liveShare, credited } }
}

const neverChecked: CheckSteps = () => {
  throw new RangeError('proofs of transitions, and nobody to check them')
}

/** Whether of a receipt just these segments are there. */
const isJust = (there: ReadonlyMap<number, unknown>, drawn: readonly number[]): boolean =>
  there.size === drawn.length && drawn.every((segment) => there.has(segment))

/** W4.5 (attack 226). The share of states that were not committed before: what leads back to one need not be computed. */
function newStates({ firstRoot, marks }: Pick<ReceiptEvidence, 'firstRoot' | 'marks'>): number {
  const roots = new Set([firstRoot, ...marks.map(({ root }) => root)].map(toHex))
  return (roots.size - 1) / marks.length
}
