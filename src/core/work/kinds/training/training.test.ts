import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'
import { toHex } from '../../../bytes/hex.ts'
import { sha256 } from '../../../bytes/sha256.ts'
import { checkReceipt } from '../../checkReceipt.ts'
import { EngineRun } from '../../engineRun.ts'
import { bitsOf, floatOf } from '../../ops/shapes.ts'
import { proveWork } from '../../proveWork.ts'
import { patchRunner } from '../../runPatch.ts'
import type { StateMark } from '../../stateChain.ts'
import { openWork, type Work } from '../../work.ts'
import { engineOnOwned, hasherOn } from '../../workEngine.ts'
import { createWorkKernels, type WorkKernels } from '../../workKernels.ts'
import { EXACT_OPS } from '../../workOps.ts'
import { encodeSpec } from '../../workSpec.ts'
import { training } from './training.ts'

const wasm = readFileSync(new URL('../../../../../kernels/built/work.wasm', import.meta.url))
const engine = async () => engineOnOwned(await createWorkKernels(wasm))

const model = { layers: 2, width: 32, heads: 2, keyHeads: 2, headSize: 16, vocabulary: 64, context: 16 }
const families = {
  gpt: { ...model, family: 'gpt', hidden: 96, hasQkvBias: true, isTied: true },
  llama: { ...model, family: 'llama', hidden: 80, hasQkvBias: false, isTied: false },
} as const
const float = (value: number) => bitsOf(value)
const adamW = {
  name: 'adamW',
  ...{ beta1: float(0.9), beta2: float(0.95), epsilon: float(1e-8), decay: float(0.01), clip: float(1) },
  rates: [
    [0, float(0)],
    [5, float(0.01)],
    [40, float(0.002)],
  ],
}

const WINDOWS = 40
/** A text that repeats: what comes next can be learned. */
const data = Uint32Array.from({ length: WINDOWS * 17 }, (_, i) => (i * i + 3 * i) % 61)
const bytesOf = (values: ArrayBufferView) => new Uint8Array(values.buffer, values.byteOffset, values.byteLength)

function trainingOf(family: keyof typeof families, transitions: number, hasher: ReturnType<typeof hasherOn>) {
  const shape = families[family]
  const parameters = { model: shape, optimiser: adamW, sequences: 4, tokens: 16, windows: WINDOWS, start: 'fresh' }
  const given = new Map([['data', bytesOf(data)]])
  const frequencies = Float32Array.from({ length: 8 }, (_, i) => 10_000 ** (-i / 8))
  if (family === 'llama') given.set('frequencies', bytesOf(frequencies))
  const shapes = training.given(training.parameters.parse(parameters))
  const inputs = [...shapes].map(([name, of]) => ({ name, uri: '', root: toHex(hasher.root(of, given.get(name)!)) }))
  const text = encodeSpec({ kind: 'training', version: 1, parameters, inputs, transitions, interval: 1 })
  const order = { text, orderId: sha256(Uint8Array.of(1)), seed: sha256(Uint8Array.of(2)) }
  return { work: openWork({ training }, EXACT_OPS, order), given }
}

interface Trained {
  readonly work: Work<WorkKernels>
  readonly run: EngineRun<WorkKernels>
  readonly firstRoot: Uint8Array
  readonly marks: readonly StateMark[]
}

async function train(family: keyof typeof families, transitions: number): Promise<Trained> {
  const hasher = hasherOn(await engine())
  const { work, given } = trainingOf(family, transitions, hasher)
  const run = new EngineRun<WorkKernels>(await engine(), work, given, hasher)
  const { root: firstRoot } = run.advance(-1)
  run.keep(-1)
  const marks = work.ends.map((_, segment) => {
    const mark = run.advance(segment)
    run.keep(segment)
    return mark
  })
  return { work, run, firstRoot, marks }
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
