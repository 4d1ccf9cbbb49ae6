import type { RunPatch } from './checkSegment.ts'
import type { Place } from './op.ts'
import type { Ops } from './program.ts'
import { ELEMENT_BYTES, type ElementType, type Region } from './tensor.ts'
import { TensorMemory, type WorkEngine } from './tensorMemory.ts'

/** Recomputes patches on an engine: the same kernels that a device runs, on the few rows that were opened. */
export function patchRunner<K>(engine: WorkEngine<K>, ops: Ops<K>): RunPatch {
  return (op, { output, inputs, numbers }, step, given) => {
    const memory = new TensorMemory(engine)
    const shapeOf = (type: ElementType, { rows, columns }: Region) => ({ type, rows, width: columns })
    const places: Place[] = inputs.map((region, i) => {
      const shape = shapeOf(step.inputs[i]!.type, region)
      memory.write(`${i}`, shape, given[i]!)
      return memory.place(`${i}`)
    })
    const place = memory.make('output', shapeOf(step.output.type, output))
    ops[op]!.run(engine.kernels, { inputs: places, output: place, numbers })
    return engine.view(place.at, output.rows * output.columns * ELEMENT_BYTES[step.output.type]).slice()
  }
}
