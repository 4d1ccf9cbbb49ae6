import { equalBytes } from '../../../bytes/bytes.ts'
import { elementsOf } from '../../ops/shapes.ts'
import type { ShapedProgram } from '../../program.ts'
import { WorkRefusal } from '../../refusals.ts'
import { tensorBytes } from '../../tensor.ts'
import { runProgram, TensorMemory } from '../../tensorMemory.ts'
import type { ExactEngine } from '../../workEngine.ts'
import { EXACT_OPS } from '../../workOps.ts'
import type { RestPlan } from './restPlan.ts'

/** What a replay begins with, and what it is held against: each for the one sequence, as the program for one has it. */
export interface ReplaySource {
  /** Rows of a kept tensor, as it is kept. */
  kept(name: string): Uint8Array
  /** A tensor that is known, or that sequences have together. */
  given(name: string): Uint8Array
}

/** W12.3.5. The steps that are run for one sequence, rounding by chance where this sequence lies in the whole batch. */
function programOf({ one, whole, lies, replayed, isKnown, kept }: RestPlan, sequence: number): ShapedProgram {
  const steps = replayed.map((at) => {
    const step = one.steps[at]!
    const name = step.outputs[0]!
    if (step.op !== 'quantise' || step.numbers.key0 === undefined) return step
    const [part, all] = [one.shapes.get(name)!, whole.shapes.get(name)!]
    const draw =
      lies.get(name) === 'rows'
        ? { index: sequence * elementsOf(part) }
        : { index: sequence * part.width, stride: all.width }
    return { ...step, numbers: { ...step.numbers, ...draw } }
  })
  const shaped = replayed.map((at, i) => ({ ...one.shaped[at]!, numbers: steps[i]!.numbers }))
  const made = new Set(steps.flatMap(({ outputs }) => outputs))
  const read = new Set([
    ...steps.flatMap(({ inputs }) => inputs),
    ...[...kept.keys()].filter((name) => isKnown.has(name)),
  ])
  const there = new Map([...read].filter((name) => !made.has(name)).map((name) => [name, one.shapes.get(name)!]))
  return { there, steps, shaped, shapes: one.shapes, after: [], statistics: [] }
}

/** Word by word where both lie so: it is millions of bytes. */
function areSame(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length || a.byteOffset % 4 !== 0 || b.byteOffset % 4 !== 0) return equalBytes(a, b)
  const words = a.length >> 2
  const [left, right] = [new Uint32Array(a.buffer, a.byteOffset, words), new Uint32Array(b.buffer, b.byteOffset, words)]
  let difference = 0
  for (let i = 0; i < words; i++) difference |= left[i]! ^ right[i]!
  return difference === 0 && equalBytes(a.subarray(4 * words), b.subarray(4 * words))
}

/** Which step is not as its definition says. */
export interface WrongStep {
  readonly op: string
  readonly tensor: string
}

/**
 * W12.3.5. Runs a sequence again from the results of its products, and compares every operand of a product with what was
 * kept. `seen` gets the columns of the tensors that are tied.
 */
export function replaySequence(
  engine: ExactEngine,
  plan: RestPlan,
  sequence: number,
  source: ReplaySource,
  seen: (name: string, bytes: Uint8Array) => void,
): WrongStep | null {
  const memory = new TensorMemory(engine)
  const program = programOf(plan, sequence)
  for (const [name, shape] of program.there) {
    const bytes = plan.kept.has(name) && !plan.isKnown.has(name) ? source.kept(name) : source.given(name)
    memory.write(name, shape, bytes)
  }
  const tied = new Set(plan.tied)
  let wrong: WrongStep | null = null
  let done = 0
  const isAsKept = (name: string): boolean => {
    const { isTurned, shape } = plan.kept.get(name)!
    const { rows, width } = memory.place(name).shape
    if (!isTurned) return areSame(memory.bytes(name), source.kept(name))
    const turned = memory.make(' turned', { type: shape.type, rows: width, width: rows })
    engine.kernels.transposeBytes(memory.place(name).at, turned.at, rows, width, 0, width)
    const isSame = areSame(engine.view(turned.at, tensorBytes(turned.shape)), source.kept(name))
    memory.free(' turned')
    return isSame
  }
  try {
    for (const name of program.there.keys())
      if (plan.isKnown.has(name) && plan.kept.has(name) && !isAsKept(name))
        return { op: plan.whole.steps.find(({ outputs }) => outputs.includes(name))!.op, tensor: name }
    runProgram(EXACT_OPS, memory, program, (at, [name]) => {
      done = at + 1
      if (tied.has(name!)) seen(name!, memory.bytes(name!))
      if (!wrong && plan.kept.has(name!) && !isAsKept(name!)) wrong = { op: program.steps[at]!.op, tensor: name! }
    })
  } catch (error) {
    if (!(error instanceof WorkRefusal)) throw error
    // It wrote a number that is none.
    const { op, outputs } = program.steps[done]!
    return wrong ?? { op, tensor: outputs[0]! }
  }
  return wrong
}
