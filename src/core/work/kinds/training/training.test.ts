import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'
import { runWhole } from '../../../../../test/support/runWhole.ts'
import { readyWork } from '../../../../../test/support/smallWorks.ts'
import { type Family, tinyTraining } from '../../../../../test/support/tinyTraining.ts'
import { sha256 } from '../../../bytes/sha256.ts'
import { checkReceipt } from '../../checkReceipt.ts'
import { EngineRun } from '../../engineRun.ts'
import { bitsOf, floatOf } from '../../ops/shapes.ts'
import { proveWork } from '../../proveWork.ts'
import { patchRunner } from '../../runPatch.ts'
import type { StateMark } from '../../stateChain.ts'
import { neededOfWork, type Work } from '../../work.ts'
import { engineOnOwned, hasherOn } from '../../workEngine.ts'
import { createWorkKernels, type WorkKernels } from '../../workKernels.ts'
import { EXACT_OPS } from '../../workOps.ts'
import { DIGIT_CLASSES, DIGIT_PIXELS, drawDigits } from './digits.ts'
import { startOf } from './training.ts'

const wasm = readFileSync(new URL('../../../../../kernels/built/work.wasm', import.meta.url))
const engine = async () => engineOnOwned(await createWorkKernels(wasm))

interface Trained {
  readonly work: Work<WorkKernels>
  readonly run: EngineRun<WorkKernels>
  readonly firstRoot: Uint8Array
  readonly marks: readonly StateMark[]
}

async function train(family: Family, transitions: number): Promise<Trained> {
  const hasher = hasherOn(await engine())
  const { work, given } = tinyTraining(family, transitions, hasher)
  const run = new EngineRun<WorkKernels>(await engine(), work, given, hasher)
  return { work, run, ...runWhole(work, run, (segment) => segment % 7 === 0) }
}

const lossAt = ({ marks }: Trained, segment: number) => floatOf(marks.at(segment)!.statistics[0]!)

describe.each(['gpt', 'llama'] as const)('a %s-shaped decoder', (family) => {
  let trained: Trained
  beforeAll(async () => {
    trained = await train(family, 40)
  })

  test('learns: its loss falls far below that of guessing', () => {
    expect(lossAt(trained, 0)).toBeGreaterThan(Math.log(64) - 0.2)
    expect(lossAt(trained, -1)).toBeLessThan(2)
  })

  test('attack 455: is credited for no row of a table that no token reads', async () => {
    const hasher = hasherOn(await engine())
    const neededWith = (context: number) => neededOfWork(tinyTraining(family, 2, hasher, { model: { context } }).work)
    expect(neededWith(65_536)).toBeLessThan(1.01 * neededWith(16))
  })

  test('attack 436: is credited for no product above the diagonal of attention', () => {
    const { ops, steps, shaped } = { ...trained.work, ...trained.work.transition(1) }
    // Two products there and four back, of every query with the keys up to its own.
    const attention = [...steps.entries()].filter(([, { numbers }]) => numbers.batch !== undefined && numbers.batch > 1)
    const products = attention.filter(([, { op }]) => op.startsWith('product'))
    expect(products.length).toBe(6 * 2)
    for (const [at, { op, needed = { always: 1 } }] of products) {
      const { inputs, outputs, numbers } = shaped[at]!
      const [tokens, size] = [16, 16]
      const below = (tokens * (tokens + 1)) / 2
      expect([inputs[0]!.rows, outputs[0]!.rows]).toContain(numbers.batch! * tokens)
      expect(needed.always * ops[op]!.operations(shaped[at]!)).toBeLessThanOrEqual(2 * numbers.batch! * below * size)
    }
  })

  test('is shown by openings that anyone checks; another loss is not', async () => {
    const { work, run, firstRoot, marks } = trained
    const proof = await proveWork(work, { firstRoot, marks }, run, (draw) => sha256(Uint8Array.of(draw)))
    const receipt = { ...proof, workId: work.workId, firstRoot, marks }
    const runner = patchRunner<WorkKernels>(await engine(), EXACT_OPS)
    const { problem, figures } = checkReceipt(work, receipt, runner)
    expect(problem).toBeNull()
    expect(figures.drawnSegments).toBe(9)
    expect(figures.patches).toBeGreaterThan(300)
    const other = marks.map((mark, i) =>
      i === 39 ? { ...mark, statistics: [mark.statistics[0]! ^ 1, mark.statistics[1]!] } : mark,
    )
    expect(checkReceipt(work, { ...receipt, marks: other }, runner).problem).not.toBeNull()
  })
})

test('two runs come to the same bits, and one that begins in the middle does too', async () => {
  const whole = await train('gpt', 6)
  const again = await train('gpt', 6)
  expect(again.marks).toEqual(whole.marks)
  const state = new Map<string, Uint8Array>()
  const { work, run } = again
  run.trace(3)
  for (const name of work.state.keys()) state.set(name, run.read(name))
  expect(run.replayFrom(4, state)).toEqual(whole.marks[4])
})

describe('an MLP on drawn digits', () => {
  const sizes = [DIGIT_PIXELS, 128, 64, DIGIT_CLASSES]
  const bytesOf = (values: Float32Array | Uint32Array) => new Uint8Array(values.buffer)
  const { data, labels } = drawDigits(1024, 1)
  const digits = new Map([
    ['data', bytesOf(data)],
    ['labels', bytesOf(labels)],
  ])
  const said = (more: object) => {
    const optimiser = { name: 'sgd', momentum: bitsOf(0.9), clip: bitsOf(10), rates: [[0, bitsOf(0.02)]] }
    return { model: { family: 'mlp', sizes }, optimiser, sequences: 64, tokens: 1, windows: 1024, ...more }
  }

  async function learn(given: ReadonlyMap<string, Uint8Array>, transitions: number, more: object) {
    const hasher = hasherOn(await engine())
    const asked = { kind: 'training', parameters: said(more), transitions, interval: 1 }
    const { work } = readyWork(asked, given, hasher)
    const run = new EngineRun<WorkKernels>(await engine(), work, given, hasher)
    return { work, run, ...runWhole(work, run) }
  }

  /** The share of digits that weights see right, in plain numbers. */
  function accuracy(run: EngineRun<WorkKernels>, seen: ReturnType<typeof drawDigits>): number {
    const layers = sizes.slice(1).map((outputs, i) => ({
      ...{ outputs, inputs: sizes[i]! },
      weight: new Float32Array(run.read(`layers.${i}.weight`).buffer),
      bias: new Float32Array(run.read(`layers.${i}.bias`).buffer),
    }))
    let right = 0
    for (const [i, label] of seen.labels.entries()) {
      let x = seen.data.slice(i * DIGIT_PIXELS, (i + 1) * DIGIT_PIXELS)
      for (const [at, { outputs, inputs, weight, bias }] of layers.entries())
        x = Float32Array.from({ length: outputs }, (_, o) => {
          let sum = bias[o]!
          for (let k = 0; k < inputs; k++) sum += weight[o * inputs + k]! * x[k]!
          return at < layers.length - 1 ? Math.max(sum, 0) : sum
        })
      if (x.indexOf(Math.max(...x)) === label) right++
    }
    return right / seen.labels.length
  }

  test('learns from the mixture, with momentum, and is shown by openings', async () => {
    const { work, run, firstRoot, marks } = await learn(digits, 64, { start: 'fresh' })
    expect(floatOf(marks[0]!.statistics[0]!)).toBeGreaterThan(2)
    expect(accuracy(run, drawDigits(200, 2))).toBeGreaterThan(0.5)
    const proof = await proveWork(work, { firstRoot, marks }, run, (draw) => sha256(Uint8Array.of(draw)))
    const receipt = { ...proof, workId: work.workId, firstRoot, marks }
    const { problem } = checkReceipt(work, receipt, patchRunner<WorkKernels>(await engine(), EXACT_OPS))
    expect(problem).toBeNull()
  })

  test('goes on from a state that is handed in as if it had never stopped', async () => {
    const whole = await learn(digits, 6, { start: 'fresh' })
    const half = await learn(digits, 4, { start: 'fresh' })
    const state = [...half.work.state.keys()].map((name) => [startOf(name), half.run.read(name)] as const)
    const { marks } = await learn(new Map([...digits, ...state]), 2, { start: 'state', done: 4 })
    expect(marks.map(({ root }) => root)).toEqual(whole.marks.slice(4).map(({ root }) => root))
  })
})
