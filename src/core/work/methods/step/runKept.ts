import type { Ops } from '../../program.ts'
import { type OnStep, runProgram, type TensorMemory } from '../../tensorMemory.ts'
import type { Kept, StepPlan } from './plan.ts'

/** Called with every kept tensor as soon as it is there, as it is kept; its bytes stay only while it is called. */
export type Keep = (kept: Kept, bytes: Uint8Array) => void

/** W12.2.3. Runs the program of a plan once, and hands over what is kept on the way. */
export function runKept<K>(
  ops: Ops<K>,
  memory: TensorMemory<K>,
  { program, kept }: StepPlan,
  keep: Keep,
  onStep: OnStep = () => {},
): void {
  const wanted = new Map(kept.map((of) => [of.name, of]))
  const hand = (name: string): void => {
    const of = wanted.get(name)
    if (of) handOver(ops, memory, of, keep)
  }
  for (const name of program.there.keys()) hand(name)
  runProgram(ops, memory, program, (step, outputs) => {
    for (const name of outputs) hand(name)
    onStep(step, outputs)
  })
}

function handOver<K>(ops: Ops<K>, memory: TensorMemory<K>, of: Kept, keep: Keep): void {
  if (!of.isTurned) {
    keep(of, memory.bytes(of.name))
    return
  }
  const [from, name] = [memory.place(of.name), `${of.name}/turned`]
  const to = memory.make(name, of.shape)
  const step = { inputs: [from.shape], outputs: [to.shape], numbers: {} }
  memory.run(ops.transpose!, step, { inputs: [from], outputs: [to], numbers: {} })
  keep(of, memory.bytes(name))
  memory.free(name)
}
