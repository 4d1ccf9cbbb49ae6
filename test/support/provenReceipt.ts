import { sha256 } from '../../src/core/bytes/sha256.ts'
import { EngineRun, type TensorHasher } from '../../src/core/work/engineRun.ts'
import { provingSteps } from '../../src/core/work/methods/step/proveSteps.ts'
import type { Ops } from '../../src/core/work/program.ts'
import { proveWork } from '../../src/core/work/proveWork.ts'
import type { Receipt } from '../../src/core/work/receipt.ts'
import { hasherOn } from '../../src/core/work/workEngine.ts'
import type { WorkKernels } from '../../src/core/work/workKernels.ts'
import type { OpenEngines } from './smallStep.ts'
import type { ReadyWork } from './smallWorks.ts'

/** What a test changes about whoever proves, or about when. */
export interface ProvenChange {
  readonly drawnBy?: Receipt['drawnBy']
  readonly nonces?: readonly [number, number]
  /** Computes in the place of the honest ops, whenever anything is run. */
  readonly ops?: Ops<WorkKernels>
}

/** A small training, executed, opened and proven from its own engines, as a receipt before it is signed. */
export async function provenReceipt(
  make: (hasher: TensorHasher) => ReadyWork,
  open: OpenEngines,
  { drawnBy = 'listener', nonces = [1, 2], ops }: ProvenChange = {},
): Promise<Omit<Receipt, 'startedAt' | 'issuedAt' | 'notAfter' | 'proverKey'>> {
  const hasher = hasherOn(await open.exact())
  const { work: asked, given } = make(hasher)
  const work = { ...asked, ops: ops ?? asked.ops }
  const run = new EngineRun(await open.exact(), work, given, hasher)
  const firstRoot = run.advance(-1).root
  run.keep(-1)
  const marks = work.ends.map((_, segment) => run.advance(segment))
  const openEngines = async () => ({ exact: await open.exact(), step: await open.step() })
  const stateBefore = (segment: number) => run.stateBefore(segment)
  const steps = provingSteps({ work, given, hasher, stateBefore, openEngines }, 'shared')
  const shown = {
    trace: (segment: number) => run.trace(segment),
    open: (segment: number, draws: Parameters<typeof run.open>[1]) => run.open(segment, draws),
    steps,
  }
  const proof = await proveWork(work, { firstRoot, marks }, shown, (draw) => sha256(Uint8Array.of(nonces[draw])))
  return {
    ...{ ...proof, firstRoot, marks, workId: work.workId, orderId: work.orderId, seed: work.seed, spec: work.text },
    ...{ program: 'test', device: 'test', drawnBy, elapsedUs: drawnBy === 'device' ? null : 1 },
  }
}
