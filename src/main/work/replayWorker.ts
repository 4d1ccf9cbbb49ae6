import { parentPort } from 'node:worker_threads'
import { EngineRun } from '../../core/work/engineRun.ts'
import type { Receipt } from '../../core/work/receipt.ts'
import { WorkRefusal, type WorkRefusalCode } from '../../core/work/refusals.ts'
import { type Replayed, replayWork, runSegments } from '../../core/work/replayWork.ts'
import { openWork, type WorkOrder } from '../../core/work/work.ts'
import { hasherOn } from '../../core/work/workEngine.ts'
import { WORK_KINDS } from '../../core/work/workKinds.ts'
import { EXACT_OPS } from '../../core/work/workOps.ts'
import { openExactEngine } from '../../drivers/gpu/cpu/work/openCpuWork.ts'
import type { Tensors } from '../../ports/workDevice.ts'

export interface ToReplay {
  readonly order: WorkOrder
  readonly given: Tensors
  /** What it is compared with; or how many of its first segments are run. */
  readonly asked: Pick<Receipt, 'firstRoot' | 'marks'> | number
}

/** Null where this machine has no room for it. */
export type ReplayAnswer = Replayed | { readonly refused: WorkRefusalCode; readonly why: string } | null

parentPort!.on('message', async (asked: ToReplay) => parentPort!.postMessage(await replayed(asked)))

async function replayed({ order, given, asked }: ToReplay): Promise<ReplayAnswer> {
  const [engine, hasher] = [await openExactEngine(), hasherOn(await openExactEngine())]
  try {
    const work = openWork(WORK_KINDS, EXACT_OPS, order)
    const run = new EngineRun(engine, work, given, hasher)
    return typeof asked === 'number' ? runSegments(work, asked, run) : replayWork(work, asked, run)
  } catch (error) {
    if (error instanceof RangeError) return null
    if (error instanceof WorkRefusal) return { refused: error.code, why: error.message }
    throw error
  }
}
