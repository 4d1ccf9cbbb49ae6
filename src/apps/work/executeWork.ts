import { proveWork } from '../../core/work/proveWork.ts'
import type { Receipt } from '../../core/work/receipt.ts'
import type { StateMark } from '../../core/work/stateChain.ts'
import { tensorBytes } from '../../core/work/tensor.ts'
import type { Work } from '../../core/work/work.ts'
import type { WorkKernels } from '../../core/work/workKernels.ts'
import type { Randomness } from '../../ports/randomness.ts'
import type { WorkRun } from '../../ports/workDevice.ts'

export type WorkStep =
  | { readonly step: 'segment'; readonly segment: number; readonly mark: StateMark }
  | { readonly step: 'trace'; readonly done: number; readonly of: number }

interface Execution {
  readonly work: Work<WorkKernels>
  readonly run: WorkRun
  readonly randomness: Randomness
  onStep(step: WorkStep): void | Promise<void>
}

export type Executed = Pick<Receipt, 'firstRoot' | 'nonces' | 'segments'> & { readonly marks: readonly StateMark[] }

const NO_STATE = new Uint8Array(32)

/**
 * A work from its beginning to its proof, on one device that nobody watches: it draws for itself, and its receipt says so.
 * As many states are kept as fit; what lies between them is run again where it is drawn.
 */
export async function executeWork(
  { work, run, randomness, onStep }: Execution,
  signal: AbortSignal,
): Promise<Executed> {
  const hasBeginning = !work.isIndependent
  const firstRoot = hasBeginning ? (await run.advance(-1)).root : NO_STATE
  if (hasBeginning) await run.keep(-1)
  const every = keptEvery(work)
  const marks: StateMark[] = []
  for (let segment = 0; segment < work.ends.length; segment++) {
    signal.throwIfAborted()
    const mark = await run.advance(segment)
    marks.push(mark)
    if (hasBeginning && (segment + 1) % every === 0) await run.keep(segment)
    await onStep({ step: 'segment', segment, mark })
  }
  let traced = 0
  const watched = {
    trace: async (segment: number) => {
      signal.throwIfAborted()
      await onStep({ step: 'trace', done: traced++, of: work.ends.length })
      return await run.trace(segment)
    },
    open: run.open,
  }
  const proof = await proveWork(work, { firstRoot, marks }, watched, () => randomness.bytes(32))
  return { firstRoot, marks, ...proof }
}

/** Memory for states that are kept. */
const KEPT_BYTES = 2 ** 30

/** Every so many segments a state is kept. */
function keptEvery({ state, ends }: Work<WorkKernels>): number {
  const bytes = [...state.values()].reduce((sum, shape) => sum + tensorBytes(shape), 0)
  return Math.max(1, Math.ceil((bytes * ends.length) / KEPT_BYTES))
}
