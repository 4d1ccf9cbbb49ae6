import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runWhole } from '../../../../../test/support/runWhole.ts'
import { type InferenceVector, inferenceVectors, tinyInference } from '../../../../../test/support/tinyInference.ts'
import { concatBytes, u32le, words32 } from '../../../bytes/bytes.ts'
import { toHex } from '../../../bytes/hex.ts'
import { sha256 } from '../../../bytes/sha256.ts'
import { checkReceipt } from '../../checkReceipt.ts'
import { EngineRun } from '../../engineRun.ts'
import { neededOf, operationsOf } from '../../program.ts'
import { proveWork } from '../../proveWork.ts'
import { WorkRefusal } from '../../refusals.ts'
import { replayWork } from '../../replayWork.ts'
import { patchRunner } from '../../runPatch.ts'
import { neededOfWork, operationsOfWork, type Work } from '../../work.ts'
import { engineOnOwned, hasherOn } from '../../workEngine.ts'
import { createWorkKernels, type WorkKernels } from '../../workKernels.ts'
import { EXACT_OPS } from '../../workOps.ts'
import { inference } from './inference.ts'

const wasm = readFileSync(new URL('../../../../../kernels/built/work.wasm', import.meta.url))
const engine = async () => engineOnOwned(await createWorkKernels(wasm))
const [hashes, worker, checker] = [await engine(), await engine(), await engine()]
const hasher = hasherOn(hashes)
const runPatch = patchRunner<WorkKernels>(checker, EXACT_OPS)
const VECTORS = inferenceVectors()
const nonce = (draw: number) => sha256(Uint8Array.of(draw))
const byName = (name: string): InferenceVector => VECTORS.find((vector) => vector.name === name)!

function run(vector: Parameters<typeof tinyInference>[0], options?: Parameters<typeof tinyInference>[2]) {
  const { work, given } = tinyInference(vector, hasher, options)
  const run = new EngineRun<WorkKernels>(worker, work, given, hasher)
  const { firstRoot, marks } = runWhole(work, run, () => false)
  const state = [...work.state.keys()].map((name) => run.read(name))
  return { work, given, run, firstRoot, marks, state, tokens: rowsOf(state[0]!, vector.total) }
}

const rowsOf = (bytes: Uint8Array, width: number) => {
  const words = [...words32(bytes)]
  return Array.from({ length: words.length / width }, (_, i) => words.slice(i * width, (i + 1) * width))
}

describe.each(VECTORS)('$name', (vector) => {
  test('comes to the tokens and the cache of the second implementation', () => {
    const { tokens, state } = run(vector)
    expect(tokens).toEqual(vector.tokens)
    expect(toHex(sha256(concatBytes(...state)))).toBe(vector.state)
  })
})

test('a sequence has the same tokens in any company, and however much of its prompt is taken at once', () => {
  const vector = byName('qwen2')
  const sample = fc.record({
    prompts: fc.array(fc.array(fc.nat(59), { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 3 }),
    interval: fc.integer({ min: 1, max: 4 }),
  })
  fc.assert(
    fc.property(sample, ({ prompts, interval }) => {
      const sorted = prompts.sort((a, b) => b.length - a.length)
      const { tokens } = run({ ...vector, prompts: sorted, total: 9 }, { interval, shown: 1 })
      for (const [i, prompt] of sorted.entries()) {
        const alone = run({ ...vector, prompts: [prompt], total: 9 }, { interval: 1, shown: 1 })
        expect(tokens[i]).toEqual(alone.tokens[0])
      }
    }),
    { numRuns: 6, seed: 5 },
  )
})

describe('a receipt', () => {
  const honest = run(byName('llama'))
  const prove = (work: Work<WorkKernels>, said: Pick<typeof honest, 'firstRoot' | 'marks'>, of = honest.run) =>
    proveWork(work, said, of, nonce)
  const checked = (evidence: object) =>
    checkReceipt(honest.work, { workId: honest.work.workId, ...honest, ...evidence } as never, runPatch)

  test('is shown by openings; its figures are the tokens', async () => {
    const { problem, figures } = checked(await prove(honest.work, honest))
    expect(problem).toBeNull()
    expect(figures).toMatchObject({ drawnSegments: 6, liveShare: 1 })
    expect(honest.marks.flatMap(({ statistics }) => statistics.slice(4))).toEqual(honest.tokens[2]!.slice(2))
  })

  test('with another token said than was made is refused', async () => {
    const proof = await prove(honest.work, honest)
    const marks = honest.marks.map((mark, i) =>
      i === 2 ? { ...mark, statistics: mark.statistics.map((bits, at) => (at === 3 ? bits ^ 1 : bits)) } : mark,
    )
    const segments = new Map(proof.segments)
    expect(checked({ ...proof, marks, segments }).problem).not.toBeNull()
    const again = await prove(honest.work, { ...honest, marks })
    expect(checked({ ...again, marks }).problem).toMatchObject({ code: 'STATISTICS_DIFFER', segment: 2 })
  })

  test('counts every transition as its own program does', () => {
    const { work } = honest
    const each = Array.from({ length: work.spec.transitions }, (_, i) => operationsOf(work.ops, work.transition(i + 1)))
    expect(operationsOfWork(work)).toBe(each.reduce((sum, operations) => sum + operations, 0))
    const lengths = byName('llama').prompts.map(({ length }) => length)
    const asked = (turn: number) => lengths.filter((length) => length <= lengths.at(-1)! + turn).length / lengths.length
    const needed = each.map((_, turn) => neededOf(work.ops, work.transition(turn + 1), 1, asked(turn)))
    const sum = needed.reduce((all, operations) => all + operations, 0)
    expect(Math.abs(neededOfWork(work) - sum)).toBeLessThan(1)
  })

  test('attack 436: is credited for no row of a product that a device may leave out', async () => {
    const { state, work } = honest
    const lazily = lazy(byName('llama'))
    const { leftOut } = lazily
    expect(lazily.state).toEqual(state)
    const { figures } = checked(await prove(work, honest))
    expect(figures.credited).toBe(neededOfWork(work))
    expect(leftOut).toBeGreaterThan(0)
    expect(figures.credited).toBeLessThanOrEqual(figures.operations - leftOut)
  })
})

/** Of the last layer and the head it makes only the rows that a token is chosen from; what it leaves out is another number. */
function lazy(vector: InferenceVector) {
  const { work, given } = tinyInference(vector, hasher)
  const lengths = vector.prompts.map(({ length }) => length)
  const products = work.transition(1).steps.filter(({ op }) => op === 'product').length
  const honest = work.ops.product!
  let [calls, leftOut] = [0, 0]
  const run: typeof honest.run = (kernels, places) => {
    const fault = honest.run(kernels, places)
    const [turn, at] = [Math.floor(calls / products), calls++ % products]
    // o, gate, up and down of the last layer, and the head.
    if (at < products - 5) return fault
    const [{ at: begin, shape }] = places.outputs as [(typeof places.outputs)[0]]
    const period = shape.rows / lengths.length
    for (let row = 0; row < shape.rows; row++) {
      const isLast = row % period === period - 1
      if (isLast && lengths[Math.floor(row / period)]! <= lengths.at(-1)! + turn) continue
      worker.view(begin + row * shape.width * 4, shape.width * 4).fill(1)
      leftOut += 2 * shape.width * places.inputs[0]!.shape.width
    }
    return fault
  }
  const ops = { ...work.ops, product: { ...honest, run } }
  const engine = new EngineRun<WorkKernels>(worker, { ...work, ops }, given, hasher)
  runWhole(work, engine, () => false)
  return { state: [...work.state.keys()].map((name) => engine.read(name)), leftOut }
}

/** Ops that do something else, here and there. */
const cheating = (work: Work<WorkKernels>, op: string, wrong: (out: Uint8Array, call: number) => void) => {
  let call = 0
  const honest = work.ops[op]!
  const run: typeof honest.run = (kernels, places) => {
    const fault = honest.run(kernels, places)
    const [{ at, shape }] = places.outputs as [(typeof places.outputs)[0]]
    wrong(worker.view(at, shape.rows * shape.width * (shape.type === 'i8' ? 1 : 4)), call++)
    return fault
  }
  return { ...work, ops: { ...work.ops, [op]: { ...honest, run } } }
}

describe('a device that cheats is caught', () => {
  const { work, given } = tinyInference(byName('qwen2'), hasher)
  const cheats: Record<string, [op: string, wrong: (out: Uint8Array, call: number) => void]> = {
    'with a token of its own choice': ['argmax', (out) => out.set([(out[0]! + 1) % 60])],
    // Tokens and scales, which are fewer bytes, are put as they are.
    'with another cache than it computed': [
      'put',
      (out) => void (out.length > 264 && out.set(out.map((byte) => (byte ^ 1) & 0x7f))),
    ],
    'that leaves out a layer': ['dequantise', (out) => void out.fill(0)],
  }
  test.each(Object.entries(cheats))('%s', async (_, [op, wrong]) => {
    const cheat = cheating(work, op, wrong)
    const run = new EngineRun<WorkKernels>(worker, cheat, given, hasher)
    const { firstRoot, marks } = runWhole(work, run, () => false)
    // One step of many: most draws meet it, and not every one.
    const found: unknown[] = []
    for (let draws = 0; draws < 6; draws++) {
      const proof = await proveWork(cheat, { firstRoot, marks }, run, (draw) => sha256(Uint8Array.of(draws, draw)))
      const { problem } = checkReceipt(work, { ...proof, workId: work.workId, firstRoot, marks }, runPatch)
      if (problem) found.push(problem)
    }
    expect(found.length).toBeGreaterThan(2)
    for (const problem of found) expect(problem).toMatchObject({ code: 'PATCH_WRONG', step: op })
    const again = new EngineRun<WorkKernels>(worker, work, given, hasher)
    expect(replayWork(work, { firstRoot, marks }, again).problem).toMatchObject({ code: 'REPLAY_DIFFERS' })
  })

  test('one wrong token in one segment: by every replay of it, whatever came before', async () => {
    let wrongAt = -1
    const cheat = cheating(work, 'argmax', (out, call) => {
      if (call === 6) {
        wrongAt = call
        out[0] = (out[0]! + 1) % 60
      }
    })
    const run = new EngineRun<WorkKernels>(worker, cheat, given, hasher)
    const { root: firstRoot } = run.advance(-1)
    const marks = work.ends.map((_, segment) => run.advance(segment))
    expect(wrongAt).toBe(6)
    const again = new EngineRun<WorkKernels>(worker, work, given, hasher)
    expect(replayWork(work, { firstRoot, marks }, again).problem).toEqual({ code: 'REPLAY_DIFFERS', segment: 3 })
  })
})

/** Another token than the model chose in every place of some sequences: `argmax` says so, or `put` writes so. */
function makingUp(work: Work<WorkKernels>, opOf: (sequence: number) => 'argmax' | 'put'): Work<WorkKernels> {
  const { argmax, put } = work.ops
  const wrong = (op: 'argmax' | 'put', at: number, width: number, column: number, rows: number) => {
    const words = words32(worker.view(at, 4 * rows * width))
    for (let row = 0; row < rows; row++) {
      const cell = row * width + column
      if (opOf(row) === op) worker.view(at + 4 * cell, 4).set(u32le((words[cell]! + 1) % 60))
    }
  }
  const ops: typeof work.ops = {
    ...work.ops,
    argmax: {
      ...argmax!,
      run(kernels, call) {
        const fault = argmax!.run(kernels, call)
        wrong('argmax', call.outputs[0]!.at, 1, 0, call.outputs[0]!.shape.rows)
        return fault
      },
    },
    put: {
      ...put!,
      run(kernels, call) {
        const [{ at, shape }] = call.outputs as [(typeof call.outputs)[0]]
        const fault = put!.run(kernels, call)
        if (shape.type === 'u32') wrong('put', at, shape.width, call.numbers.column!, shape.rows)
        return fault
      },
    },
  }
  return { ...work, ops }
}

/** A row of its tokens is no single leaf. */
const long = () => {
  const { model } = byName('llama')
  return run({ ...byName('llama'), model: { ...model, context: 300 }, prompts: [[1, 2]], total: 300 }, { interval: 20 })
}

describe('attack 443: a text that the model did not choose, with every product honest', () => {
  const ways: Readonly<Record<string, (sequence: number) => 'argmax' | 'put'>> = {
    'written in the place of what was chosen': () => 'put',
    'chosen against the logits': () => 'argmax',
    'half of it the one, half the other': (sequence) => (sequence % 2 === 0 ? 'put' : 'argmax'),
  }
  test.each(Object.entries(ways))('%s: is found by openings', async (_, opOf) => {
    const prompts = [1, 3, 5, 7].map((token) => [token, token + 1])
    const { work, given } = tinyInference({ ...byName('llama'), prompts, total: 22 }, hasher, { shown: 4 })
    const cheat = makingUp(work, opOf)
    const run = new EngineRun<WorkKernels>(worker, cheat, given, hasher)
    const { firstRoot, marks } = runWhole(work, run, () => false)
    for (let draws = 0; draws < 8; draws++) {
      const proof = await proveWork(cheat, { firstRoot, marks }, run, (draw) => sha256(Uint8Array.of(draws, draw)))
      const { problem } = checkReceipt(work, { ...proof, workId: work.workId, firstRoot, marks }, runPatch)
      expect(problem).toMatchObject({ code: 'PATCH_WRONG', step: expect.stringMatching(/^(put|argmax)$/) })
    }
  })

  test('a receipt that was drawn among all cells shows others than are asked for', async () => {
    const { work, run, firstRoot, marks } = long()
    const { fresh: _, ...put } = work.ops.put!
    const proof = await proveWork({ ...work, ops: { ...work.ops, put } }, { firstRoot, marks }, run, nonce)
    const { problem } = checkReceipt(work, { ...proof, workId: work.workId, firstRoot, marks }, runPatch)
    expect(problem).toMatchObject({ code: 'PATCH_NOT_COMMITTED', step: 'put' })
  })
})

describe('refused before work starts', () => {
  const vector = byName('gpt2')
  const { given, work } = tinyInference(vector, hasher)
  const said = work.spec.parameters

  test.each<[string, Record<string, unknown>]>([
    ['more tokens than the model has places', { total: 25 }],
    ['nothing to do', { total: 5 }],
    ['prompts of another order', { lengths: [2, 3, 5] }],
    ['more figures than a mark holds', { shown: 6 }],
    ['a temperature of nothing', { sampling: { factor: 0, key: null } }],
    ['heads that do not share keys evenly', { model: { ...vector.model, keyHeads: 3 } }],
    ['an absurd epsilon', { model: { ...vector.model, epsilon: 0x7f800000 } }],
    ['a model of no layers', { model: { ...vector.model, layers: 0 } }],
  ])('%s', (_, change) => {
    expect(inference.parameters.safeParse(said).success).toBe(true)
    expect(inference.parameters.safeParse({ ...said, ...change }).success).toBe(false)
  })

  const bad = (name: string, at: number, bytes: readonly number[]) => {
    const changed = given.get(name)!.slice()
    changed.set(bytes, at)
    return () => inference.requireGiven!(new Map([...given, [name, changed]]), inference.parameters.parse(said))
  }
  test.each<[string, string, number[]]>([
    ['a token outside the vocabulary', 'prompts', [60, 0, 0, 0]],
    ['-128 in a matrix', '1.up.weight', [0x80]],
    ['a number that is none', 'embed', [0, 0, 0xc0, 0x7f]],
    ['a scale below 0', 'head.scales', [0, 0, 0, 0xbf]],
  ])('%s', (_, name, bytes) => {
    expect(bad(name, 0, [])).not.toThrow()
    expect(bad(name, 4, bytes)).toThrow(WorkRefusal)
  })
})
