import { EngineRun } from '../../src/core/work/engineRun.ts'
import { planRest, type RestPlan } from '../../src/core/work/methods/step/restPlan.ts'
import { ELEMENT_BYTES } from '../../src/core/work/tensor.ts'
import { runProgram, TensorMemory } from '../../src/core/work/tensorMemory.ts'
import { type ExactEngine, hasherOn } from '../../src/core/work/workEngine.ts'
import { EXACT_OPS } from '../../src/core/work/workOps.ts'
import { type Family, tinyTraining } from './tinyTraining.ts'

export interface TracedStep {
  readonly plan: RestPlan
  /** Every tensor of the transition, whole. */
  readonly tensors: ReadonlyMap<string, Uint8Array>
}

/** The second transition of a small training with every tensor it makes. */
export async function tracedStep(family: Family, open: () => Promise<ExactEngine>): Promise<TracedStep> {
  const hasher = hasherOn(await open())
  const { work, given } = tinyTraining(family, 6, hasher)
  const run = new EngineRun(await open(), work, given, hasher)
  run.advance(-1)
  run.advance(0)
  const plan = planRest(EXACT_OPS, work, 2)
  const memory = new TensorMemory(await open())
  const tensors = new Map<string, Uint8Array>(given)
  for (const name of work.state.keys()) tensors.set(name, run.read(name))
  for (const [name, shape] of plan.whole.there) memory.write(name, shape, tensors.get(name)!)
  runProgram(EXACT_OPS, memory, plan.whole, (_, outputs) => {
    for (const name of outputs) tensors.set(name, memory.bytes(name).slice())
  })
  return { plan, tensors }
}

/** What of a tensor belongs to a sequence, as the program for one sequence has it. */
export function partOf(
  { plan: { lies, one, whole }, tensors }: TracedStep,
  name: string,
  sequence: number,
): Uint8Array {
  const [part, all, bytes] = [one.shapes.get(name)!, whole.shapes.get(name)!, tensors.get(name)!]
  const size = ELEMENT_BYTES[part.type]
  const lie = lies.get(name)!
  if (lie === 'shared') return bytes
  if (lie === 'rows') {
    const length = part.rows * part.width * size
    return bytes.slice(sequence * length, (sequence + 1) * length)
  }
  const out = new Uint8Array(part.rows * part.width * size)
  for (let row = 0; row < part.rows; row++) {
    const from = (row * all.width + sequence * part.width) * size
    out.set(bytes.subarray(from, from + part.width * size), row * part.width * size)
  }
  return out
}

/** A matrix of bytes, turned. */
export function turnedBytes(bytes: Uint8Array, rows: number, width: number): Uint8Array {
  const out = new Uint8Array(bytes.length)
  for (let row = 0; row < rows; row++) for (let i = 0; i < width; i++) out[i * rows + row] = bytes[row * width + i]!
  return out
}
