import type { OpCall } from '../../src/core/work/op.ts'
import type { WorkKernels } from '../../src/core/work/workKernels.ts'
import { openCpuWork } from '../../src/drivers/gpu/cpu/work/openCpuWork.ts'
import type { WorkDevice } from '../../src/ports/workDevice.ts'

/**
 * A device that rounds by another chance in one transition, in every run of it alike: its chain, traces and openings fit
 * each other, and nothing else is wrong. Opened on WebAssembly, which takes little memory.
 */
export const lyingStart =
  (transition: number): WorkDevice['start'] =>
  async (work, given) => {
    const honest = work.ops.quantise!
    const quantise = {
      ...honest,
      run(kernels: WorkKernels, call: OpCall) {
        const { numbers } = call
        const isHere = numbers.key0 !== undefined && numbers.transition === transition
        return honest.run(kernels, isHere ? { ...call, numbers: { ...numbers, key0: numbers.key0! ^ 1 } } : call)
      },
    }
    const device = await openCpuWork({ environment: { TOUCHSTONE_ENGINE: 'wasm' } })
    return device.start({ ...work, ops: { ...work.ops, quantise } }, given)
  }
