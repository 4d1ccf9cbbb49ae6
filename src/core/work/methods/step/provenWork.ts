import { PROVEN_SEGMENTS } from '../../draws.ts'
import { MOST_PROVEN_BYTES } from '../../evidenceBehind.ts'
import { requireThat } from '../../refusals.ts'
import { tensorBytes } from '../../tensor.ts'
import type { Work } from '../../work.ts'
import type { WorkKernels } from '../../workKernels.ts'
import { type CheckerEngines, checkTransition, type TransitionEnds, type TransitionProblem } from './checkStep.ts'
import { proofBytesOf } from './proofBytes.ts'
import { drawRest, restSeed, revealsOf, type SaidStep, spellSaid, type TransitionProof } from './rest.ts'
import { type ProvenProducts, planRest, type RestPlan } from './restPlan.ts'
import { stepError } from './stepProof.ts'

/** W12.5. A transition that was proven: what was said of it before the nonce came, and the proof. */
export interface ProvenStep {
  readonly said: SaidStep
  readonly proof: TransitionProof
}

/** W12.5. What was proven of a work, by segment, ascending. */
export interface ProvenWork {
  readonly products: ProvenProducts
  readonly steps: ReadonlyMap<number, ProvenStep>
}

/** What whoever executed a work can prove of its segments. */
export interface ProvableSteps {
  readonly products: ProvenProducts
  say(segment: number): Promise<SaidStep> | SaidStep
  prove(segment: number, nonce: Uint8Array): Promise<TransitionProof> | TransitionProof
}

/** W12.5.1. Throws a WorkRefusal where a work has no such transitions, or proofs of them are too large for a receipt. */
export function requireProvable<K>(work: Work<K>, products: ProvenProducts): void {
  requireThat(work.spec.interval === 1, 'BAD_SHAPE', 'a segment is more than one transition')
  const plan = planRest(work.ops, work, 1, products)
  const megabytes = (of: number) => `${Math.round(of / 1e6)} MB`
  const largest = largestTensor(plan)
  requireThat(
    largest <= MOST_TENSOR_BYTES,
    'TOO_BIG',
    `a check would make tensors of ${megabytes(largest)} again, and may make ${megabytes(MOST_TENSOR_BYTES)}`,
  )
  const bytes = proofBytesOf(work, plan) * Math.min(PROVEN_SEGMENTS, work.ends.length) + BYTES_BESIDE
  requireThat(
    bytes <= MOST_PROVEN_BYTES,
    'TOO_BIG',
    `the receipt would have up to ${megabytes(bytes)}, and may have ${megabytes(MOST_PROVEN_BYTES)}`,
  )
}

/** About three such tensors are there at once in a replay, and WebAssembly has 4 GiB. */
const MOST_TENSOR_BYTES = 2 ** 29

/** The most bytes of a tensor that whoever checks makes: of one sequence, or a table of which rows are looked up. */
function largestTensor({ one, whole, replayed, tables }: RestPlan): number {
  const made = replayed.flatMap((at) => one.shaped[at]!.outputs)
  const shapes = [...made, ...tables.map(({ name }) => whole.shapes.get(name)!)]
  return shapes.reduce((most, shape) => Math.max(most, tensorBytes(shape)), 0)
}

/** Openings beside proofs stay below (W4.4.10). */
const BYTES_BESIDE = 5 * 2 ** 20

/** What a check of proven transitions found. */
export interface ProvenFigures {
  readonly products: ProvenProducts
  /** Which transitions of the work, ascending. */
  readonly transitions: readonly number[]
  readonly proofBytes: number
  /** log2 of the chance that a wrong product passes, for one try (W12.4). */
  readonly log2Error: number
}

/** W12.3.9, W12.3.10. What these show, in words. */
export const PROVEN_GUARANTEES: readonly string[] = [
  'Sumcheck, of the proven transitions: gradients of weights are exactly the sums that they should be; two drawn sequences are right in every step; so is one patch of every step that sequences share, vectors whole.',
  'It shows neither their other sequences (a share x of wrong ones passes with (1 - x)^2), nor a shared step beside its patch, nor other transitions.',
]

/** A drawn segment, the states around it, and the nonce that its proof answers. */
export interface DrawnStep {
  readonly segment: number
  readonly ends: TransitionEnds
  readonly nonce: Uint8Array
}

export type CheckSteps = (proven: ProvenWork, drawn: readonly DrawnStep[]) => ProvenFigures | ProofProblem

/** What is wrong with the proof of a transition of a work, and of which. */
export interface ProofProblem extends TransitionProblem {
  readonly proven: number
}

/** W12.5.4. Every proof of a work, each as W12.3 has it; what is wrong with the first that is. */
export const stepsChecker =
  (engines: CheckerEngines, work: Work<WorkKernels>): CheckSteps =>
  ({ products, steps }, drawn) => {
    let plan: RestPlan | null = null
    let [proofBytes, log2Error] = [0, Number.NEGATIVE_INFINITY]
    for (const { segment, ends, nonce } of drawn) {
      const { said, proof } = steps.get(segment)!
      plan = planRest(work.ops, work, work.ends[segment]!, products, plan)
      const problem = checkTransition(engines, work, plan, ends, said, nonce, proof)
      if (problem) return { ...problem, proven: plan.transition }
      proofBytes += proof.rest.length + proof.products.length
      const draws = drawRest(work.ops, plan, restSeed(spellSaid(said, ends), nonce))
      log2Error = Math.max(log2Error, stepError(plan.products, revealsOf(work.ops, plan, draws)))
    }
    return { products, transitions: drawn.map(({ segment }) => work.ends[segment]!), proofBytes, log2Error }
  }
