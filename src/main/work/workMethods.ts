import { WorkRejected } from '../../apps/work/proverLine.ts'
import { type Dispute, type ReplicaEnd, type ReplicasWatched, watchReplicas } from '../../apps/work/watchReplicas.ts'
import { watchAttested, watchExecution, watchProduct, watchWork } from '../../apps/work/watchWork.ts'
import type { ExecutedWork, Watch, WatchedWork } from '../../apps/work/workListener.ts'
import type { Signer } from '../../core/bytes/ed25519.ts'
import { toHex } from '../../core/bytes/hex.ts'
import { issueProduct } from '../../core/certificate/productEvidence.ts'
import { issueReceipt } from '../../core/certificate/receiptEvidence.ts'
import type { TensorHasher } from '../../core/work/engineRun.ts'
import { creditedOperations } from '../../core/work/liveRule.ts'
import { checkCommitted, committedError, proveCommitted } from '../../core/work/methods/sumcheck/committed.ts'
import { codeOperand } from '../../core/work/methods/sumcheck/operandCode.ts'
import { liveShareOf, type ProductReceipt, productOf } from '../../core/work/methods/sumcheck/productReceipt.ts'
import { checkHashedSumcheck, type ProductOperands, sumcheckError } from '../../core/work/methods/sumcheck/sumcheck.ts'
import type { ProductStatement } from '../../core/work/methods/sumcheck/transcript.ts'
import type { Receipt } from '../../core/work/receipt.ts'
import { WorkRefusal } from '../../core/work/refusals.ts'
import { operationsOfWork } from '../../core/work/work.ts'
import { openFieldEngine } from '../../drivers/gpu/cpu/work/openCpuWork.ts'
import type { ProverProcess } from '../../ports/remoteBox.ts'
import type { Tensors } from '../../ports/workDevice.ts'
import { chanceText, provenText, segmentsText } from '../check/checkAnswer.ts'
import { replayHere } from './replayHere.ts'

/** What a receipt says beside what was heard. */
type Facts = Pick<Receipt, 'workId' | 'spec' | 'orderId' | 'seed' | 'program' | 'startedAt' | 'issuedAt' | 'notAfter'>

/** A state as it was handed over, with the roots of its tensors in their order. */
export interface TakenState {
  readonly tensors: Tensors
  readonly roots: readonly Uint8Array[]
}

/** A work that was done, and shown to be right. */
export interface Shown extends Pick<ExecutedWork, 'device' | 'elapsedUs' | 'marks'> {
  readonly last: TakenState
  /** Whether all of it was run again here, and came to the same. */
  readonly isReplayed: boolean
  /** Whether one that said something else fell silent, and nothing shows that it was wrong. */
  readonly isOpen: boolean
  /** Which of the provers came to it, and showed that. */
  readonly agreed: readonly number[]
  /** Why it is believed. */
  readonly looked: string
  /** W4.5. Operations that are credited for it. */
  readonly credited: number
  /** Of replicas, what became of each. */
  readonly replicas: string | null
  readonly disputes: readonly ToldDispute[]
  /** Of a product that is proven by itself, whose check takes no inputs: the codes that stand for its operands. */
  readonly product?: Pick<ProductReceipt, 'codes'>
  /** What hardware signed, for a file of its own. */
  readonly evidence?: Uint8Array
  receipt(facts: Facts, signer: Signer): Uint8Array
}

export type How = Omit<Watch, 'prover' | 'onState'> & {
  /** Whether operands go under a code, for who has neither. */
  readonly isCoded: boolean
  /** Judges what hardware signed for a nonce: throws where it does not hold, else names the chips. */
  judge(bundle: Uint8Array, nonce: Uint8Array): Promise<string>
}
type OnState = (segment: number, state: Tensors) => void

const NO_STATE: TakenState = { tensors: new Map(), roots: [] }
/** One prover, whom nobody contradicts. */
const ALONE = { disputes: [], isReplayed: false, isOpen: false, agreed: [0] } as const

interface AllWatched extends Pick<Shown, 'last' | 'disputes' | 'isReplayed' | 'isOpen' | 'agreed'> {
  readonly watched: WatchedWork
  readonly told: string | null
}

/** Two replicas that differed, and what it came to: replicas are counted from 1. */
export interface ToldDispute {
  readonly replicas: readonly number[]
  readonly keys: readonly string[]
  /** Wrong in what was looked at; or did not answer, so that nothing is known of it. */
  readonly liars: readonly number[]
  readonly silent: readonly number[]
  readonly rounds: number
  readonly segment: number | null
  readonly step: string | null
  readonly patch: number | null
}

/** W4.3, W12.5. Patches that are drawn here are recomputed here, on one prover or on each of several, and proofs checked. */
export async function byOpenings(
  provers: readonly ProverProcess[],
  how: How,
  onState: OnState,
  signal: AbortSignal,
): Promise<Shown> {
  const { watched, told, ...heard } = await (provers.length === 1
    ? watchOne({ ...how, prover: provers[0]!, onState }, signal)
    : watchAll(provers, how, onState, signal))
  const { figures, device, elapsedUs, marks } = watched
  const { credited } = figures
  const proofs = figures.proven ? `; ${provenText(figures.proven)}` : ''
  const looked = `${figures.patches} patches of ${segmentsText(how.work, figures)}, drawn here once the last state was in${proofs}`
  return {
    ...heard,
    ...{ device, elapsedUs, marks, looked, credited, replicas: told },
    receipt: (facts, signer) => issueReceipt({ ...facts, ...watched, drawnBy: 'listener' }, signer),
  }
}

/** W11. The same on one prover whose hardware signs, before and after, that it was there. */
export async function byAttestation(
  provers: readonly ProverProcess[],
  how: How,
  onState: OnState,
  signal: AbortSignal,
): Promise<Shown> {
  const kept = keepingLast({ ...how, prover: provers[0]!, onState })
  const { evidence, ...watched } = await watchAttested(kept.watch, how.judge, signal)
  const { figures, device, elapsedUs, marks } = watched
  const looked = `${figures.patches} patches of ${segmentsText(how.work, figures)}; attested by ${evidence.chips}`
  return {
    ...ALONE,
    ...{ device, elapsedUs, marks, last: kept.last(), looked },
    ...{ credited: figures.credited, replicas: null, evidence: evidence.bundle },
    receipt: (facts, signer) => issueReceipt({ ...facts, ...watched, drawnBy: 'listener' }, signer),
  }
}

/** W8.8. Whoever worked makes the proof, whoever listens has A, B and C and checks it; codes are made here. */
export async function bySumcheck(
  provers: readonly ProverProcess[],
  how: How,
  onState: OnState,
  signal: AbortSignal,
): Promise<Shown> {
  const { work, given } = how
  let last = NO_STATE
  const c: Uint8Array[] = []
  const keep: Watch['onState'] = (segment, tensors, roots) => {
    last = { tensors, roots }
    c.push(tensors.get('c')!)
    onState(segment, tensors)
  }
  const watch = { ...how, prover: provers[0]!, onState: keep }
  const executed = how.isCoded
    ? { ...(await watchExecution(watch, signal)), proof: null }
    : await watchProduct(watch, signal)
  const { marks } = executed
  const roots = marks.map(({ root }) => root)
  const product = productOf(work, roots)!
  const operands = { a: given.get('a')!, b: given.get('b')! }
  const { proof, problem, codes, log2Error } =
    executed.proof === null
      ? await provenUnderCodes(product, operands, c, how.hasher)
      : await provenAtHand(product, operands, c, executed.proof)
  if (problem) throw new WorkRejected('NOT_SHOWN', problem)
  const { device, elapsedUs, proverKey } = executed
  const credited = creditedOperations(operationsOfWork(work), liveShareOf(product, operands.a, operands.b))
  const looked = `every entry, by sumcheck: a wrong one passes with at most ${chanceText(log2Error)}`
  return {
    ...ALONE,
    ...{ device, elapsedUs, marks, last, looked, credited },
    ...{ replicas: null, product: { codes } },
    receipt: (facts, signer) => issueProduct({ ...facts, device, elapsedUs, proverKey, roots, proof, codes }, signer),
  }
}

interface ProvenProduct extends Pick<ProductReceipt, 'proof' | 'codes'> {
  readonly problem: string | null
  readonly log2Error: number
}

async function provenAtHand(
  product: ProductStatement,
  operands: ProductOperands,
  c: readonly Uint8Array[],
  proof: Uint8Array,
): Promise<ProvenProduct> {
  // Every block was hashed as it came in, and A and B when the specification was written.
  const problem = checkHashedSumcheck(await openFieldEngine(), product, { ...operands, c }, proof)
  return { proof, problem, codes: null, log2Error: sumcheckError(product) }
}

/** W8.9. For readers who have C alone. */
async function provenUnderCodes(
  product: ProductStatement,
  operands: ProductOperands,
  c: readonly Uint8Array[],
  hasher: TensorHasher,
): Promise<ProvenProduct> {
  const engine = await openFieldEngine()
  const { rows, columns, k: width } = product
  const a = codeOperand(engine, hasher, { type: 'i8', rows, width }, operands.a)
  const b = codeOperand(engine, hasher, { type: 'i8', rows: columns, width }, operands.b)
  const codes = [a.code, b.code] as const
  const statement = { ...product, codeA: codes[0], codeB: codes[1] }
  const proof = proveCommitted(engine, hasher, statement, a, b)
  const problem = checkCommitted(engine, hasher, statement, c, proof)
  return { proof, problem, codes, log2Error: committedError(product) }
}

async function watchOne(watch: Watch, signal: AbortSignal): Promise<AllWatched> {
  const kept = keepingLast(watch)
  const watched = await watchWork(kept.watch, signal)
  return { ...ALONE, watched, last: kept.last(), told: null }
}

/** The same watch, and the last state that it was handed. */
function keepingLast(watch: Watch): { readonly watch: Watch; last(): TakenState } {
  let last = NO_STATE
  const onState: Watch['onState'] = async (segment, tensors, roots) => {
    last = { tensors, roots }
    await watch.onState(segment, tensors, roots)
  }
  return { watch: { ...watch, onState }, last: () => last }
}

/** Several provers, whose answers must be the same: no state counts before that is known. */
async function watchAll(
  provers: readonly ProverProcess[],
  how: How,
  onState: OnState,
  signal: AbortSignal,
): Promise<AllWatched> {
  const states = provers.map((): [number, TakenState][] => [])
  const watches = provers.map(
    (prover, i): Watch => ({
      ...how,
      prover,
      onState: (segment, tensors, roots) => void states[i]!.push([segment, { tensors, roots }]),
    }),
  )
  const found = await watchReplicas(watches, replayHere(how, signal), signal)
  const { outcome, ends, disputes, isReplayed } = found
  const first = ends.findIndex((end) => 'shown' in end)
  const end = ends[first]
  if (outcome === 'too few' || !end || !('shown' in end)) throw tooFew(found)
  const agreed = [...ends.keys()].filter((i) => 'shown' in ends[i]!)
  for (const [segment, { tensors }] of states[first]!) onState(segment, tensors)
  const told = `${agreed.length} of ${ends.length} came to the same${isReplayed ? ', as did a replay here' : ''}`
  const rejected = notCounted(ends).map((why) => `; ${why}`)
  return {
    ...{ watched: end.shown, last: states[first]!.at(-1)![1] },
    ...{ told: [told, ...rejected].join(''), disputes: disputes.map(toldOf) },
    ...{ isReplayed, isOpen: outcome === 'open', agreed },
  }
}

function toldOf({ between, keys, lost, isSilent, rounds, segment, op, draw }: Dispute): ToldDispute {
  const counted = (places: readonly number[]) => places.map((place) => place + 1)
  const losers = counted(lost)
  return {
    ...{ replicas: counted(between), keys: keys.map(toHex), rounds },
    ...{ liars: isSilent ? [] : losers, silent: isSilent ? losers : [] },
    ...{ segment: segment ?? null, step: op ?? null, patch: draw?.patch ?? null },
  }
}

const notCounted = (ends: readonly ReplicaEnd[]): string[] =>
  ends.flatMap((end, i) => ('rejected' in end ? [`replica ${i + 1} does not count: ${end.rejected.message}`] : []))

function tooFew({ ends, refusal }: ReplicasWatched): WorkRefusal | WorkRejected {
  const why = notCounted(ends).join('; ')
  if (refusal) return new WorkRefusal(refusal.code, `${refusal.message}; ${why}`)
  const isUnseen = ends.some((end) => 'rejected' in end && end.rejected.code === 'REFUSED_UNSEEN')
  return new WorkRejected(isUnseen ? 'REFUSED_UNSEEN' : 'TOO_FEW', why)
}
