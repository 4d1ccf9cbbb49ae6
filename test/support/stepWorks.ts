import { readFileSync } from 'node:fs'
import { PLAIN_HASHER } from '../../src/core/work/engineRun.ts'
import type { StepEngine } from '../../src/core/work/methods/step/stepRooms.ts'
import { bitsOf } from '../../src/core/work/ops/shapes.ts'
import { runProgram, TensorMemory } from '../../src/core/work/tensorMemory.ts'
import type { Work } from '../../src/core/work/work.ts'
import { type ExactEngine, engineOnOwned, stepEngineOnOwned } from '../../src/core/work/workEngine.ts'
import { createWorkKernels, type OwnedWorkKernels, type WorkKernels } from '../../src/core/work/workKernels.ts'
import { type ReadyWork, readyWork } from './smallWorks.ts'
import { inferenceVectors, tinyInference } from './tinyInference.ts'
import { tinyTraining } from './tinyTraining.ts'
import { chanceFrom } from './workTrials.ts'

const wasm = new Uint8Array(readFileSync(new URL('../../kernels/built/work.wasm', import.meta.url)))

/** Sizes that are no powers of two. */
function oddMlp(): ReadyWork {
  const [windows, sizes] = [9, [7, 12, 5, 3]]
  const given = new Map([
    ['data', new Uint8Array(chanceFrom(5).floats(windows * sizes[0]!).buffer)],
    ['labels', new Uint8Array(Uint32Array.from({ length: windows }, (_, i) => i % 3).buffer)],
  ])
  const optimiser = { name: 'sgd', momentum: bitsOf(0.9), clip: bitsOf(10), rates: [[0, bitsOf(0.02)]] }
  const parameters = { model: { family: 'mlp', sizes }, optimiser, sequences: 6, tokens: 1, windows, start: 'fresh' }
  return readyWork({ kind: 'training', parameters, transitions: 3, interval: 1 }, given, PLAIN_HASHER)
}

/** Works whose transitions have products, each of another kind. */
export const STEP_WORKS = {
  gpt: () => tinyTraining('gpt', 3, PLAIN_HASHER),
  llama: () => tinyTraining('llama', 3, PLAIN_HASHER),
  mlp: oddMlp,
  inference: () => tinyInference(inferenceVectors()[0]!, PLAIN_HASHER),
} as const satisfies Record<string, () => ReadyWork>

export type StepWork = keyof typeof STEP_WORKS

export const openWasm = (): Promise<OwnedWorkKernels> => createWorkKernels(wasm)
export const openWasmExact = async (): Promise<ExactEngine> => engineOnOwned(await openWasm())
export const openWasmStep = async (): Promise<StepEngine> => stepEngineOnOwned(await openWasm())

/** The memory of a work before its first transition. */
export function begunMemory(engine: ExactEngine, { work, given }: ReadyWork): TensorMemory<WorkKernels> {
  const memory = new TensorMemory<WorkKernels>(engine)
  for (const [name, bytes] of given) memory.write(name, work.given.get(name)!, bytes)
  const program = work.begin()
  runProgram(work.ops, memory, program)
  carryOver(work, memory, program.after)
  return memory
}

/** The next state takes the names of the one before. */
export function carryOver(work: Work<WorkKernels>, memory: TensorMemory<WorkKernels>, after: readonly string[]): void {
  const names = [...work.state.keys()]
  for (const name of names) if (memory.has(name) && !after.includes(name)) memory.free(name)
  for (const [i, name] of after.entries()) if (name !== names[i]) memory.rename(name, names[i]!)
}
