import type { TensorHasher } from '../../engineRun.ts'
import { TensorMemory } from '../../tensorMemory.ts'
import type { Work } from '../../work.ts'
import type { WorkKernels } from '../../workKernels.ts'
import type { ProvableSteps } from './provenWork.ts'
import { type CommittedTransition, commitTransition, type ProverEngines } from './proveStep.ts'
import { type ProvenProducts, planRest, type RestPlan } from './restPlan.ts'

type Tensors = ReadonlyMap<string, Uint8Array>

/** A work that was executed, and what proving takes. */
interface Executed {
  readonly work: Work<WorkKernels>
  readonly given: Tensors
  readonly hasher: TensorHasher
  stateBefore(segment: number): Tensors
  openEngines(): Promise<ProverEngines>
}

/**
 * W12.5. Proofs of transitions, from the states before them. One at a time is held, since everything of it that may be asked
 * for lies in memory: of several all but the last are run twice.
 */
export function provingSteps(
  { work, given, hasher, stateBefore, openEngines }: Executed,
  products: ProvenProducts,
): ProvableSteps {
  const trees = new Map([...given].map(([name, bytes]) => [name, hasher.tree(work.given.get(name)!, bytes)]))
  let engines: Promise<ProverEngines> | null = null
  let plan: RestPlan | null = null
  let held: { readonly segment: number; readonly committed: CommittedTransition } | null = null
  const commit = async (segment: number): Promise<CommittedTransition> => {
    if (held?.segment === segment) return held.committed
    held = null
    engines ??= openEngines()
    const on = await engines
    plan = planRest(work.ops, work, work.ends[segment]!, products, plan)
    const there = new Map([...given, ...stateBefore(segment)])
    const memory = new TensorMemory(on.exact)
    for (const [name, shape] of plan.whole.there) memory.write(name, shape, there.get(name)!)
    held = { segment, committed: commitTransition(on, work, plan, memory, trees) }
    return held.committed
  }
  return {
    products,
    say: async (segment) => (await commit(segment)).said,
    prove: async (segment, nonce) => (await commit(segment)).prove(nonce),
  }
}
