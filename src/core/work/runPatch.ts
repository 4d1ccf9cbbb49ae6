import type { RunPatch } from './checkPatch.ts'
import type { Place } from './op.ts'
import type { Ops } from './program.ts'
import type { ElementType, Region } from './tensor.ts'
import { TensorMemory, type WorkEngine } from './tensorMemory.ts'

/** Recomputes patches on an engine: the same kernels that a device runs, on the few rows that were opened. */
export function patchRunner<K>(engine: WorkEngine<K>, ops: Ops<K>): RunPatch {
  return (op, { outputs, numbers }, step, { inputs, regions }) => {
    const memory = new TensorMemory(engine)
    const shapeOf = (type: ElementType, { rows, columns }: Region) => ({ type, rows, width: columns })
    const places: Place[] = regions.map((region, i) => {
      const shape = shapeOf(step.inputs[i]!.type, region)
      memory.write(`${i}`, shape, inputs[i]!)
      return memory.place(`${i}`)
    })
    const made = outputs.map((region, i) => memory.make(`out ${i}`, shapeOf(step.outputs[i]!.type, region)))
    const small = { inputs: places.map(({ shape }) => shape), outputs: made.map(({ shape }) => shape), numbers }
    const fault = memory.run(ops[op]!, small, { inputs: places, outputs: made, numbers })
    return fault === 0 ? made.map((_, i) => memory.bytes(`out ${i}`).slice()) : null
  }
}
