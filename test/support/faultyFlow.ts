import type { TensorHasher } from '../../src/core/work/engineRun.ts'
import { cellFlags } from '../../src/core/work/kinds/simulation/lattice.ts'
import { flowParameters } from '../../src/core/work/kinds/simulation/simulation.ts'
import type { OpCall } from '../../src/core/work/op.ts'
import { bitsOf } from '../../src/core/work/ops/shapes.ts'
import type { WorkKernels } from '../../src/core/work/workKernels.ts'
import { openCpuWork } from '../../src/drivers/gpu/cpu/work/openCpuWork.ts'
import type { WorkDevice } from '../../src/ports/workDevice.ts'
import { type ReadyWork, readyWork } from './smallWorks.ts'
import { WASM } from './workProgram.ts'

/** The first segment of the flow below that has no result: a number of it is none. */
export const FAULT_AT = 85

/** A flow around a sphere, so fast and thin that it ends in a fault after a while. */
export function faultyFlow(hasher: TensorHasher, transitions = 128, interval = 1): ReadyWork {
  const parameters = flowParameters({ cells: [8, 8, 8], viscosity: 0.001, velocity: [0.29, 0, 0], noise: 0.29 })
  const isInside = (...at: readonly number[]) => Math.hypot(...at.map((along) => along - 3.5)) < 2
  const cells = cellFlags(parameters, (x, y, z) => (isInside(x, y, z) ? 'solid' : 'fluid'))
  const given = new Map([['cells', cells]])
  return readyWork({ kind: 'simulation', parameters, transitions, interval }, given, hasher)
}

/** A device that begins a calm flow anew in one transition, in every run of it alike: what it shows fits together. */
export const calmingStart =
  (transition: number): WorkDevice['start'] =>
  async (work, given) => {
    const honest = work.ops.flow!
    const flow = {
      ...honest,
      run(kernels: WorkKernels, call: OpCall) {
        const { isCalm, ...numbers } = call.numbers
        if (isCalm === undefined) return honest.run(kernels, call)
        const calm = { ...numbers, velocityX: bitsOf(0.02), velocityY: 0, velocityZ: 0, noise: 0, key0: 1, key1: 2 }
        return work.ops.flowBegin!.run(kernels, { ...call, inputs: [call.inputs[1]!], numbers: calm })
      },
    }
    const calmed = (number: number) => {
      const program = work.transition(number)
      if (number !== transition) return program
      const marked = <T extends { readonly numbers: OpCall['numbers'] }>(step: T, i: number): T =>
        i === 0 ? { ...step, numbers: { ...step.numbers, isCalm: 1 } } : step
      return { ...program, steps: program.steps.map(marked), shaped: program.shaped.map(marked) }
    }
    const device = await openCpuWork(WASM)
    return device.start({ ...work, ops: { ...work.ops, flow }, transition: calmed }, given)
  }
