import type { Ops } from '../../program.ts'
import { type OnStep, runProgram, type TensorMemory } from '../../tensorMemory.ts'
import type { Kept, StepPlan } from './plan.ts'

/** Takes kept tensors as soon as they are there, as they are kept. */
export interface Keeper {
  /** Its bytes stay only while this is called. */
  add(name: string, bytes: Uint8Array): void
  /** Where a tensor should be made in the memory of the program; null where it is to be handed over. */
  placeOf(name: string): number | null
  /** It was made at its place. */
  addMade(name: string): void
}

const turnedName = ({ name, isTurned }: Kept): string => (isTurned ? `${name}/turned` : name)

/** W12.2.3. Runs the program of a plan once, and hands over what is kept on the way. */
export function runKept<K>(
  ops: Ops<K>,
  memory: TensorMemory<K>,
  { program, kept }: StepPlan,
  keeper: Keeper,
  onStep: OnStep = () => {},
): void {
  const wanted = new Map(kept.map((of) => [of.name, of]))
  const settled = new Set<Kept>()
  for (const of of kept) {
    const at = program.there.has(of.name) ? null : keeper.placeOf(of.name)
    if (at === null) continue
    memory.settle(turnedName(of), at)
    settled.add(of)
  }
  const hand = (name: string): void => {
    const of = wanted.get(name)
    if (!of) return
    if (of.isTurned) turn(ops, memory, of)
    if (settled.has(of)) keeper.addMade(name)
    else keeper.add(name, memory.bytes(turnedName(of)))
    if (of.isTurned) memory.free(turnedName(of))
  }
  for (const name of program.there.keys()) hand(name)
  runProgram(ops, memory, program, (step, outputs) => {
    for (const name of outputs) hand(name)
    onStep(step, outputs)
  })
}

function turn<K>(ops: Ops<K>, memory: TensorMemory<K>, of: Kept): void {
  const [from, to] = [memory.place(of.name), memory.make(turnedName(of), of.shape)]
  const step = { inputs: [from.shape], outputs: [to.shape], numbers: {} }
  memory.run(ops.transpose!, step, { inputs: [from], outputs: [to], numbers: {} })
}
