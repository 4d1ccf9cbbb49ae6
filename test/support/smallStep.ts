import { u32le } from '../../src/core/bytes/bytes.ts'
import { sha256 } from '../../src/core/bytes/sha256.ts'
import { EngineRun, type TensorHasher } from '../../src/core/work/engineRun.ts'
import { DIGIT_CLASSES, DIGIT_PIXELS, drawDigits } from '../../src/core/work/kinds/training/digits.ts'
import type { CheckerEngines } from '../../src/core/work/methods/step/checkStep.ts'
import { type CommittedTransition, commitTransition } from '../../src/core/work/methods/step/proveStep.ts'
import { drawRest, type RestDraws, restSeed, spellSaid } from '../../src/core/work/methods/step/rest.ts'
import { type ProvenProducts, planRest, type RestPlan } from '../../src/core/work/methods/step/restPlan.ts'
import type { StepEngine } from '../../src/core/work/methods/step/stepRooms.ts'
import { bitsOf, type WorkOp } from '../../src/core/work/ops/shapes.ts'
import type { Ops } from '../../src/core/work/program.ts'
import { TensorMemory } from '../../src/core/work/tensorMemory.ts'
import type { Work } from '../../src/core/work/work.ts'
import { type ExactEngine, hasherOn } from '../../src/core/work/workEngine.ts'
import type { WorkKernels } from '../../src/core/work/workKernels.ts'
import { EXACT_OPS } from '../../src/core/work/workOps.ts'
import { type ReadyWork, readyWork } from './smallWorks.ts'
import { type Family, tinyTraining } from './tinyTraining.ts'

/** How engines are opened here. */
export interface OpenEngines {
  exact(): Promise<ExactEngine>
  step(): Promise<StepEngine>
}

/** What somebody who cheats does to a tensor as soon as it is made; everything after it is made from that. */
export type Tampering = ReadonlyMap<string, (bytes: Uint8Array) => void>

/** A small training, at the state before its second transition. */
export interface SmallStep {
  readonly work: Work<WorkKernels>
  readonly plan: RestPlan
  readonly checker: CheckerEngines
  /** Runs and commits to it. */
  commit(tampering?: Tampering): CommittedTransition
}

/** Smaller than what learns: each of its proofs is some tens of milliseconds. */
const MODEL = { layers: 1, width: 16, headSize: 8, hidden: 24, vocabulary: 61 }

export const smallDecoder =
  (family: Family, transitions = 6) =>
  (hasher: TensorHasher): ReadyWork =>
    tinyTraining(family, transitions, hasher, { model: MODEL })

/** Eight digits a step. */
export function smallMlp(hasher: TensorHasher): ReadyWork {
  const { data, labels } = drawDigits(16, 1)
  const given = new Map([
    ['data', new Uint8Array(data.buffer)],
    ['labels', new Uint8Array(labels.buffer)],
  ])
  const model = { family: 'mlp', sizes: [DIGIT_PIXELS, 20, DIGIT_CLASSES] }
  const optimiser = { name: 'sgd', momentum: bitsOf(0.9), clip: bitsOf(10), rates: [[0, bitsOf(0.02)]] }
  const parameters = { model, optimiser, sequences: 8, tokens: 1, windows: 16, start: 'fresh' }
  return readyWork({ kind: 'training', parameters, transitions: 4, interval: 1 }, given, hasher)
}

export async function smallStep(
  make: (hasher: TensorHasher) => ReadyWork,
  open: OpenEngines,
  wanted: ProvenProducts = 'all',
): Promise<SmallStep> {
  const hasher = hasherOn(await open.exact())
  const { work, given } = make(hasher)
  const run = new EngineRun(await open.exact(), work, given, hasher)
  run.advance(-1)
  run.advance(0)
  const there = new Map([...given, ...[...work.state.keys()].map((name) => [name, run.read(name)] as const)])
  const plan = planRest(EXACT_OPS, work, 2, wanted)
  const givenTrees = new Map([...given].map(([name, bytes]) => [name, hasher.tree(work.given.get(name)!, bytes)]))
  const [exact, step] = [await open.exact(), await open.step()]
  return {
    ...{ work, plan, checker: { exact: await open.exact(), step: await open.step(), hasher } },
    commit(tampering = new Map()) {
      const memory = new TensorMemory(exact)
      for (const [name, shape] of plan.whole.there) memory.write(name, shape, there.get(name)!)
      const worker = { ...work, ops: tamperedOps(memory, tampering) }
      return commitTransition({ exact, step }, worker, plan, memory, givenTrees)
    },
  }
}

/** Every op as it is, and then the tampering with what it made. */
function tamperedOps(memory: TensorMemory<WorkKernels>, tampering: Tampering): Ops<WorkKernels> {
  const runOf =
    (op: WorkOp): WorkOp['run'] =>
    (kernels, call) => {
      const fault = op.run(kernels, call)
      for (const [name, tamper] of tampering)
        if (memory.has(name) && memory.place(name).at === call.outputs[0]!.at) tamper(memory.bytes(name))
      return fault
    }
  return Object.fromEntries(Object.entries(EXACT_OPS).map(([name, op]) => [name, { ...op, run: runOf(op) }]))
}

/** A nonce under which the draws are as somebody wishes. */
export function nonceFor({ work, plan }: SmallStep, of: CommittedTransition, wish: (draws: RestDraws) => boolean) {
  for (let i = 0; i < 2000; i++) {
    const nonce = sha256(u32le(i))
    if (wish(drawRest(work.ops, plan, restSeed(spellSaid(of.said, of), nonce)))) return nonce
  }
  throw new RangeError('no nonce draws that')
}
