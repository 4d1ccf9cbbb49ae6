import { proveWork } from '../../core/work/proveWork.ts'
import type { Receipt } from '../../core/work/receipt.ts'
import type { StateMark } from '../../core/work/stateChain.ts'
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
 * Every state is kept, since any may be drawn; whoever has less memory keeps fewer and runs longer.
 */
export async function executeWork(
  { work, run, randomness, onStep }: Execution,
  signal: AbortSignal,
): Promise<Executed> {
  const hasBeginning = !work.isIndependent
  const firstRoot = hasBeginning ? (await run.advance(-1)).root : NO_STATE
  if (hasBeginning) await run.keep(-1)
  const marks: StateMark[] = []
  for (let segment = 0; segment < work.ends.length; segment++) {
    signal.throwIfAborted()
    const mark = await run.advance(segment)
    marks.push(mark)
    if (hasBeginning) await run.keep(segment)
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
