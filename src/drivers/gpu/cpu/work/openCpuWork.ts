import { EngineRun } from '../../../../core/work/engineRun.ts'
import type { CheckerEngines } from '../../../../core/work/methods/step/checkStep.ts'
import { provingSteps } from '../../../../core/work/methods/step/proveSteps.ts'
import type { StepEngine } from '../../../../core/work/methods/step/stepRooms.ts'
import type { FieldEngine } from '../../../../core/work/methods/sumcheck/evaluate.ts'
import { gatherRows } from '../../../../core/work/methods/sumcheck/sumcheck.ts'
import {
  type ExactEngine,
  engineOnOwned,
  fieldEngineOnOwned,
  hasherOn,
  stepEngineOnOwned,
} from '../../../../core/work/workEngine.ts'
import { createWorkKernels } from '../../../../core/work/workKernels.ts'
import type { WorkDevice, WorkRun } from '../../../../ports/workDevice.ts'
import { chooseKernels, type KernelChoice } from '../../../system/chooseKernels.ts'
import { readKernel } from '../../../system/kernelFiles.ts'
import { loadNativeKernels } from '../../../system/nativeKernels.ts'

/** An engine for exact work on this machine's best kernels. Native ones work on memory that the system hands out as it is used. */
export async function openExactEngine(options: KernelChoice = {}): Promise<ExactEngine> {
  const library = await chooseKernels(options)
  if (!library) return engineOnOwned(await createWorkKernels(await readKernel('work.wasm')))
  const memory = new Uint8Array(MOST_BYTES)
  return { kernels: (await loadNativeKernels(library.path)).workOn(memory), ...fixedMemory(memory) }
}

/** The same for transitions by sumcheck. */
export async function openStepEngine(options: KernelChoice = {}): Promise<StepEngine> {
  const library = await chooseKernels(options)
  if (!library) return stepEngineOnOwned(await createWorkKernels(await readKernel('work.wasm')))
  const memory = new Uint8Array(MOST_BYTES)
  const native = await loadNativeKernels(library.path)
  return { ...fixedMemory(memory), kernels: native.stepOn(memory), start: native.startIn(memory) }
}

export interface ProvingEngines {
  readonly exact: ExactEngine
  readonly step: StepEngine
}

/** Both for whoever proves a transition; native ones work on the halves of one memory, so that nothing is copied. */
export async function openProvingEngines(options: KernelChoice = {}): Promise<ProvingEngines> {
  const library = await chooseKernels(options)
  if (!library) return { exact: await openExactEngine(options), step: await openStepEngine(options) }
  const [memory, native] = [new Uint8Array(MOST_BYTES), await loadNativeKernels(library.path)]
  const half = MOST_BYTES / 2
  return {
    exact: { kernels: native.workOn(memory), ...fixedMemory(memory, 64, half) },
    step: { kernels: native.stepOn(memory), ...fixedMemory(memory, half + native.startIn(memory), MOST_BYTES) },
  }
}

/** Everything for whoever checks one. */
export async function openCheckerEngines(options: KernelChoice = {}): Promise<CheckerEngines> {
  const [exact, step] = [await openExactEngine(options), await openStepEngine(options)]
  return { exact, step, hasher: hasherOn(await openExactEngine(options)) }
}

/** The same for sumchecks. */
export async function openFieldEngine(options: KernelChoice = {}): Promise<FieldEngine> {
  const library = await chooseKernels(options)
  if (!library) return fieldEngineOnOwned(await createWorkKernels(await readKernel('work.wasm')))
  const memory = new Uint8Array(MOST_BYTES)
  return { kernels: (await loadNativeKernels(library.path)).fieldOn(memory), ...fixedMemory(memory) }
}

/** No tensor lies at 0: it stands for none. */
const fixedMemory = (memory: Uint8Array, start = 64, end = memory.length): Omit<ExactEngine, 'kernels'> => ({
  start,
  view: (at, bytes) => memory.subarray(at, at + bytes),
  reserve: (wanted) => {
    if (wanted > end) throw new RangeError(`the work needs more than ${end - start} bytes of memory`)
  },
})

const MOST_BYTES = 2 ** 32 - 2 ** 16

/** The processor as a device for works: every step as the program says, on one core. */
export async function openCpuWork(options: KernelChoice = {}): Promise<WorkDevice> {
  const hasher = hasherOn(await openExactEngine(options))
  const name = `CPU (${(await chooseKernels(options))?.name ?? 'WebAssembly'})`
  return {
    name,
    provesSteps: true,
    async start(work, given): Promise<WorkRun> {
      // Memory of its own: works that run at the same time know nothing of each other.
      const run = new EngineRun(await openExactEngine(options), work, given, hasher)
      return {
        advance: async (segment) => run.advance(segment),
        makeShard: async (segment, shard) => run.makeShard(segment, shard),
        joinShards: async (segment, made) => run.joinShards(segment, made),
        keep: async (segment) => run.keep(segment),
        read: async (tensor) => run.read(tensor),
        trace: async (segment) => run.trace(segment),
        open: async (segment, draws) => run.open(segment, draws),
        outputOf: async (segment, at, output) => run.outputOf(segment, at, output),
        gather: async (tensor, point) => {
          const matrix = { shape: work.given.get(tensor)!, stretches: [given.get(tensor)!] }
          return gatherRows(await openFieldEngine(options), matrix, point)
        },
        proveSteps: (products) => {
          const stateBefore = (segment: number) => run.stateBefore(segment)
          const openEngines = () => openProvingEngines(options)
          return provingSteps({ work, given, hasher, stateBefore, openEngines }, products)
        },
      }
    },
    close: async () => {},
  }
}
