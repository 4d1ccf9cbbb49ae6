import { parentPort, workerData } from 'node:worker_threads'
import type { WasmKernels } from '../../../core/engine/kernels.ts'
import { type WasmMemory, type WasmModule, webAssembly } from '../../../core/engine/webAssembly.ts'
import type { NativeLibrary } from '../../system/chooseKernels.ts'
import { loadNativeKernels } from '../../system/nativeKernels.ts'
import { computePasses } from './computePasses.ts'
import { computePaths } from './computePaths.ts'
import { computeRounds } from './computeRounds.ts'
import { openControl } from './control.ts'
import type { Job, JobMessage, WorkerMessage, WorkerStart } from './jobs.ts'
import { HEAP_START, stackTop } from './layout.ts'
import type { Thread } from './thread.ts'

const start = workerData as WorkerStart
const control = openControl(start.control)
const post = (message: WorkerMessage) => parentPort!.postMessage(message)
let thread: Thread | null = null

type OnMemory = (memory: WasmMemory, bytes: Uint8Array) => Thread['kernels']

/** Every thread has its own stack in the shared memory; the module's own stack would be everybody's. */
const wasmKernels =
  (module: WasmModule): OnMemory =>
  (memory) => {
    const { exports: kernels } = new webAssembly.Instance<WasmKernels>(module, { env: { memory } })
    if (kernels.__heap_base.value > HEAP_START)
      throw new Error(`the kernels' data ends at ${kernels.__heap_base.value}, after the heap's start ${HEAP_START}`)
    kernels.__stack_pointer.value = stackTop(start.index)
    return kernels
  }

async function nativeKernels({ path }: NativeLibrary): Promise<OnMemory> {
  const library = await loadNativeKernels(path)
  return (_, bytes) => library.on(bytes)
}

const { kernels } = start
const kernelsOn = 'native' in kernels ? await nativeKernels(kernels.native) : wasmKernels(kernels.module)

function openThread(memory: WasmMemory): Thread {
  const bytes = new Uint8Array(memory.buffer)
  const { index, threads } = start
  return { index, threads, kernels: kernelsOn(memory, bytes), control, bytes, post }
}

function compute(job: Job, on: Thread): void {
  if (job.kind === 'rounds') computeRounds(on, job)
  else if (job.kind === 'passes') computePasses(on, job)
  else computePaths(on, job)
}

parentPort!.on('message', ({ job, memory }: JobMessage) => {
  if (memory) thread = openThread(memory)
  compute(job, thread!)
  post({ kind: 'done' })
})

post({ kind: 'done' })
