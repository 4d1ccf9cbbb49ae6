import { describe, expect, test } from 'vitest'
import { sha256 } from '../../src/core/bytes/sha256.ts'
import { checkReceipt } from '../../src/core/work/checkReceipt.ts'
import { drawPatches, OTHER_PATCHES, type PatchDraw } from '../../src/core/work/draws.ts'
import { drawTraced } from '../../src/core/work/drawWork.ts'
import { EngineRun } from '../../src/core/work/engineRun.ts'
import { passChance } from '../../src/core/work/guarantees.ts'
import { cellFlags } from '../../src/core/work/kinds/simulation/lattice.ts'
import { flowParameters } from '../../src/core/work/kinds/simulation/simulation.ts'
import { startOf } from '../../src/core/work/kinds/training/training.ts'
import { bitsOf } from '../../src/core/work/ops/shapes.ts'
import type { ShapedProgram } from '../../src/core/work/program.ts'
import { proveWork } from '../../src/core/work/proveWork.ts'
import { replayWork } from '../../src/core/work/replayWork.ts'
import { patchRunner } from '../../src/core/work/runPatch.ts'
import { tensorLeaf } from '../../src/core/work/tensorTree.ts'
import { segmentPrograms, type Work } from '../../src/core/work/work.ts'
import { type ExactEngine, hasherOn } from '../../src/core/work/workEngine.ts'
import type { WorkKernels } from '../../src/core/work/workKernels.ts'
import { EXACT_OPS } from '../../src/core/work/workOps.ts'
import { openExactEngine } from '../../src/drivers/gpu/cpu/work/openCpuWork.ts'
import { runWhole } from '../support/runWhole.ts'
import { type ReadyWork, readyWork } from '../support/smallWorks.ts'
import { type InferenceVector, inferenceVectors, tinyInference } from '../support/tinyInference.ts'
import { tinyTraining } from '../support/tinyTraining.ts'
import { chanceFrom } from '../support/workTrials.ts'

const hasher = hasherOn(await openExactEngine())
const runner = patchRunner<WorkKernels>(await openExactEngine(), EXACT_OPS)
const nonceOf = (from: number) => (draw: 0 | 1) => sha256(Uint8Array.of(from >> 8, from, draw))

/** Does a work, `through` kernels that may cheat, and commits to what came of it. */
async function done({ work, given }: ReadyWork, through: (on: ExactEngine) => ExactEngine = (on) => on) {
  const run = new EngineRun<WorkKernels>(through(await openExactEngine()), work, given, hasher)
  return { work, run, ...runWhole(work, run) }
}

type Done = Awaited<ReturnType<typeof done>>

/** What a check says of its receipt. */
async function checked({ work, run, firstRoot, marks }: Done, nonce = 1) {
  const proof = await proveWork(work, { firstRoot, marks }, run, nonceOf(nonce))
  return checkReceipt(work, { ...proof, workId: work.workId, firstRoot, marks }, runner)
}

/** In how many of so many draws from one segment no patch is faked. */
function timesUnseen(programs: readonly ShapedProgram[], tries: number, isFaked: (draw: PatchDraw) => boolean): number {
  const isSeen = (from: number) => drawPatches(EXACT_OPS, programs, nonceOf(from)(0)).some(isFaked)
  return Array.from({ length: tries }, (_, from) => isSeen(from)).filter((seen) => !seen).length
}

const bytesOf = (values: Float32Array | Uint32Array) => new Uint8Array(values.buffer)
const sizes = [24, 32, 4]
const samples = 64

/** An MLP that begins with given weights, on samples of chance. */
function mlp({ clip = 1, scale = 0.2, bias = (_: number): number => 0, transitions = 6 } = {}): ReadyWork {
  const chance = chanceFrom(5)
  const floats = (count: number, of: (i: number) => number) =>
    bytesOf(Float32Array.from({ length: count }, (_, i) => of(i)))
  const random = () => chance.whole(-1000, 1000) / 1000
  const given = new Map([
    ['data', floats(samples * sizes[0]!, random)],
    ['labels', bytesOf(chance.words(samples, sizes.at(-1)!))],
  ])
  for (const [i, outputs] of sizes.slice(1).entries()) {
    given.set(
      startOf(`layers.${i}.weight`),
      floats(outputs * sizes[i]!, () => scale * random()),
    )
    given.set(
      startOf(`layers.${i}.bias`),
      floats(outputs, (unit) => (i === 0 ? bias(unit) : 0)),
    )
  }
  const optimiser = { name: 'sgd', momentum: bitsOf(0.9), clip: bitsOf(clip), rates: [[0, bitsOf(0.02)]] }
  const parameters = { model: { family: 'mlp', sizes }, optimiser, sequences: 16, tokens: 1, windows: samples }
  const asked = { kind: 'training', parameters: { ...parameters, start: 'given' }, transitions, interval: 1 }
  return readyWork(asked, given, hasher)
}

describe('work that nobody need do is not credited', () => {
  test('an honest training is, for comparison', async () => {
    const { problem, figures } = await checked(await done(mlp()))
    expect(problem).toBeNull()
    expect(figures.credited).toBeGreaterThan(0.5 * figures.operations)
  })

  test('attack 173: weights of zeros are a fixed point', async () => {
    const { problem, figures } = await checked(await done(mlp({ scale: 0 })))
    expect([problem, figures.credited]).toEqual([null, 0])
  })

  test('attack 174: nine units in ten that are dead stay dead', async () => {
    const { problem, figures } = await checked(await done(mlp({ bias: (unit) => (unit % 10 === 0 ? 0 : -100) })))
    expect([problem, figures.credited]).toEqual([null, 0])
  })

  test('attack 175: a clip so low that no gradient leaves a trace', async () => {
    const { problem, figures } = await checked(await done(mlp({ clip: 1.4e-45 })))
    expect([problem, figures.credited]).toEqual([null, 0])
  })
})

test('attack 176: of eight transitions in a segment one is done; whoever draws single ones would see that one', async () => {
  const parameters = flowParameters({ cells: [8, 4, 4], viscosity: 0.02, velocity: [0.05, 0, 0], noise: 0.05 })
  const given = new Map([['cells', cellFlags(parameters, () => 'fluid')]])
  const asked = { kind: 'simulation', parameters, transitions: 32, interval: 8 }
  let calls = 0
  const lazy = (on: ExactEngine): ExactEngine => ({
    ...on,
    kernels: {
      ...on.kernels,
      flow(from, cells, to, ...rest) {
        if (calls++ % 8 === 7) return on.kernels.flow(from, cells, to, ...rest)
        const bytes = 4 * 64 * 19 * 2
        on.view(to, bytes).set(on.view(from, bytes))
        return 0
      },
    },
  })
  const lying = await done(readyWork(asked, given, hasher), lazy)
  expect((await checked(lying)).problem).toMatchObject({ code: 'PATCH_WRONG', step: 'flow' })
  const isFaked = ({ transition, step }: PatchDraw) => transition < 7 && step === 0
  expect(timesUnseen(segmentPrograms(lying.work, 0), 200, isFaked)).toBe(0)
})

test('attack 177: gradients of the head alone are left out; as a choke they are always looked at', async () => {
  const lazy = (on: ExactEngine): ExactEngine => ({
    ...on,
    kernels: {
      ...on.kernels,
      productPieces(a, scales, b, to, rows, columns, ...rest) {
        if (rows !== sizes.at(-1)) return on.kernels.productPieces(a, scales, b, to, rows, columns, ...rest)
        on.view(to, 4 * rows * columns).fill(0)
        return 0
      },
    },
  })
  const lying = await done(mlp(), lazy)
  for (const nonce of [1, 2])
    expect((await checked(lying, nonce)).problem).toMatchObject({ code: 'PATCH_WRONG', step: 'productPieces' })
})

test('attack 178: 64 words beside zeros fit a fingerprint of another tile; no leaf here is another', () => {
  const leaf = new Uint8Array(1024)
  leaf.set(sha256(Uint8Array.of(1)), 128)
  const root = tensorLeaf(leaf)
  for (let at = 0; at < leaf.length; at += 37) {
    const other = leaf.slice()
    other[at]! ^= 1
    expect(tensorLeaf(other)).not.toEqual(root)
  }
})

/** The step that adds what the first attention came to. */
const residualOf = (work: Work<WorkKernels>) => work.transition(1).steps.findIndex(({ op }) => op === 'add')

test('attack 179: one faked add passes openings as often as stated, and never a replay', async () => {
  const { work, given } = tinyTraining('gpt', 1, hasher)
  const step = residualOf(work)
  let adds = 0
  /** The first sequence in the place of the others, in the first add of every transition. */
  const copies = (on: ExactEngine): ExactEngine => ({
    ...on,
    kernels: {
      ...on.kernels,
      add(a, b, to, count) {
        const answer = on.kernels.add(a, b, to, count)
        if (adds++ % addsIn === 0) on.view(to, 4 * count).copyWithin(2 * count, 0, 2 * count)
        return answer
      },
    },
  })
  const addsIn = work.transition(1).steps.filter(({ op }) => op === 'add').length
  const lying = await done({ work, given }, copies)
  const honest = new EngineRun<WorkKernels>(await openExactEngine(), work, given, hasher)
  expect(replayWork(work, lying, honest).problem).toMatchObject({ code: 'REPLAY_DIFFERS', segment: 0 })
  // Twelve other steps of a segment are drawn, each alike: of eight segments all must miss it.
  const programs = segmentPrograms(work, 0)
  const isOther = (op: string) => !['product', 'productPieces'].includes(op) && !/^(adamW|sgd)/.test(op)
  const others = programs[0]!.steps.filter(({ op }) => isOther(op)).length
  const expected = passChance.fakedStep(1, others, 1)
  const tries = 400
  const unseen = timesUnseen(programs, tries, (draw) => draw.step === step) / tries
  expect(Math.abs(unseen - expected)).toBeLessThan(4 * Math.sqrt((expected * (1 - expected)) / tries))
})

describe('attack 180: one window over and over, which need be computed once', () => {
  const repeated = (bytes: Uint8Array, width: number) => bytes.map((_, i) => bytes[i % width]!)
  const again = ({ work, given }: ReadyWork, width: number): ReadyWork => {
    const { kind, parameters, transitions, interval } = work.spec
    const data = repeated(given.get('data')!, width)
    return readyWork({ kind, parameters, transitions, interval }, new Map([...given, ['data', data]]), hasher)
  }

  test('an MLP gives itself away: what is 0 for one sample is 0 for all', async () => {
    const repeating = await done(again(mlp(), 4 * sizes[0]!))
    const found = await Promise.all(Array.from({ length: 6 }, (_, nonce) => checked(repeating, nonce)))
    expect(found.every(({ problem }) => problem === null)).toBe(true)
    // About a third of what is drawn is live: a draw in twenty finds half of it so.
    expect(found.filter(({ figures }) => figures.credited > 0).length).toBeLessThanOrEqual(1)
  })

  test('a decoder does not: a third of its work, stated as open', async () => {
    const { problem, figures } = await checked(await done(again(tinyTraining('gpt', 2, hasher), 4 * 17)))
    expect(problem).toBeNull()
    expect(figures.credited).toBeGreaterThan(0.5 * figures.operations)
  })
})

const isNear = (found: number, expected: number, tries: number) =>
  Math.abs(found - expected) <= 4 * Math.sqrt((expected * (1 - expected)) / tries)

describe('what passes as often as the formulas say', () => {
  const tries = 400

  test('a share of wrong segments, by replay of those that are drawn', () => {
    const parameters = flowParameters({ cells: [4, 4, 4], viscosity: 0.02 })
    const given = new Map([['cells', cellFlags(parameters, () => 'fluid')]])
    const { work } = readyWork({ kind: 'simulation', parameters, transitions: 1000, interval: 1 }, given, hasher)
    const isUnseen = (from: number) =>
      drawTraced(work, work.workId, nonceOf(from)(0)).every((segment) => segment % 10 !== 3)
    const passed = Array.from({ length: tries }, (_, from) => isUnseen(from)).filter(Boolean).length
    expect(isNear(passed / tries, passChance.replay(0.1), tries)).toBe(true)
  })

  test('a share of wrong products of a training, by openings: at most, for chokes are looked at besides', () => {
    const programs = segmentPrograms(mlp().work, 0)
    const isProduct = (step: number) => programs[0]!.steps[step]!.op.startsWith('product')
    const isFaked = ({ step, patch }: PatchDraw) => isProduct(step) && patch % 20 === 7
    const passed = timesUnseen(programs, tries, isFaked) / tries
    const expected = passChance.openings(1, 1 / 20, 1)
    expect(passed <= expected || isNear(passed, expected, tries)).toBe(true)
    expect(passed).toBeGreaterThan(expected / 2)
  })

  describe('of an inference', () => {
    const { work } = tinyInference(inferenceVectors()[0]!, hasher, { interval: 1, shown: 1 })
    const programs = segmentPrograms(work, 1)
    const { steps } = programs[0]!
    const isProduct = (step: number) => steps[step]!.op.startsWith('product')

    test('a share of wrong segments, by replay of those that are drawn', () => {
      const many = { ...work, ends: Array.from({ length: 1000 }, (_, i) => i + 1) }
      const isUnseen = (from: number) =>
        drawTraced(many, work.workId, nonceOf(from)(0)).every((segment) => segment % 10 !== 3)
      const passed = Array.from({ length: tries }, (_, from) => isUnseen(from)).filter(Boolean).length
      expect(isNear(passed / tries, passChance.replay(0.1), tries)).toBe(true)
    })

    test('a share of wrong products, by openings: at most, for chokes are looked at besides', () => {
      const isFaked = ({ step, patch }: PatchDraw) => isProduct(step) && patch % 20 === 7
      const passed = timesUnseen(programs, tries, isFaked) / tries
      const expected = passChance.openings(1, 1 / 20, 1)
      expect(passed <= expected || isNear(passed, expected, tries)).toBe(true)
      expect(passed).toBeGreaterThan(expected / 2)
    })

    test('one faked step that is no choke, by openings', () => {
      const faked = steps.findIndex(({ op, isChoke }) => op === 'add' && !isChoke)
      const passed = timesUnseen(programs, tries, ({ step }) => step === faked) / tries
      const others = steps.filter((_, step) => !isProduct(step)).length
      expect(isNear(passed, passChance.fakedStep(1, others, 1), tries)).toBe(true)
    })
  })

  describe('attack 443: of an inference whose tokens are another text, with every product right', () => {
    const [sequences, interval] = [4, 8]
    const prompts = Array.from({ length: sequences }, (_, i) => [2 * i, 2 * i + 1])
    const [first] = inferenceVectors() as [InferenceVector]
    const vector = { ...first, model: { ...first.model, context: 26 }, prompts, total: 26 }
    const { work } = tinyInference(vector, hasher, { interval, shown: 4 })
    const programs = segmentPrograms(work, 1)
    /** The sequence and place of a token that a patch of `put` writes; null of any other patch. */
    const writes = ({ transition, step, patch }: PatchDraw) => {
      const { op, inputs, numbers } = programs[transition]!.steps[step]!
      const [sequence, place] = [Math.floor(patch / vector.total), patch % vector.total]
      return op === 'put' && inputs[0] === 'tokens' && place === numbers.column ? { sequence, place } : null
    }
    const chooses = ({ transition, step, patch }: PatchDraw) =>
      programs[transition]!.steps[step]!.op === 'argmax' ? { sequence: patch } : null
    const passing = (isFaked: (draw: PatchDraw) => boolean) => timesUnseen(programs, tries, isFaked) / tries

    test('all of them written past the choice are found in every segment, and so are all chosen wrongly', () => {
      expect(passing((draw) => writes(draw) !== null)).toBe(0)
      expect(passing((draw) => chooses(draw) !== null)).toBe(0)
    })

    test('written in some transitions and chosen in the others they are, too', () => {
      const isOdd = ({ transition }: PatchDraw) => transition % 2 === 1
      const isFaked = (draw: PatchDraw) => (isOdd(draw) ? writes(draw) : chooses(draw)) !== null
      expect(passing(isFaked)).toBe(0)
    })

    test('written in half of the sequences and chosen in the others they pass a segment with 1/4 at most', () => {
      const isFaked = (draw: PatchDraw) => {
        const [written, chosen] = [writes(draw), chooses(draw)]
        return written ? written.sequence % 2 === 0 : chosen !== null && chosen.sequence % 2 === 1
      }
      const passed = passing(isFaked)
      expect(passed <= 1 / 4 || isNear(passed, 1 / 4, tries)).toBe(true)
    })

    test('one wrong token is hardly ever looked at: that is for a replay', () => {
      const place = programs[3]!.steps.at(-2)!.numbers.column!
      const passed = passing((draw) => {
        const written = writes(draw)
        return written !== null && written.sequence === 1 && written.place === place
      })
      const expected = 1 - 1 / (interval * sequences)
      expect(passed <= expected || isNear(passed, expected, tries)).toBe(true)
      expect(passed).toBeGreaterThan(0.9)
    })

    test('a cache that holds other keys is drawn by what is written into it, as often as not', () => {
      const { steps, shaped } = programs[0]!
      const step = steps.findIndex(({ inputs }) => inputs[0] === '0.keys')
      const { fresh, patches } = EXACT_OPS.put!
      const isFresh = ({ transition, patch }: PatchDraw) => {
        const { count, at } = fresh!(programs[transition]!.shaped[step]!)
        return Array.from({ length: count }, (_, i) => at(i)).includes(patch)
      }
      const passed = passing((draw) => draw.step === step && isFresh(draw))
      const others = steps.filter(({ op }) => op !== 'product').length
      const share = (1 + fresh!(shaped[step]!).count / patches(shaped[step]!)) / 2
      expect(isNear(passed, (1 - share / others) ** OTHER_PATCHES, tries)).toBe(true)
    })

    test('a logit that is too large, for every token, is not found: stated as open', () => {
      const head = programs[0]!.steps.findIndex(({ inputs }) => inputs[1] === 'head.weight')
      const { vocabulary } = vector.model
      const passed = passing(({ step, patch }) => step === head && patch % vocabulary === 7)
      expect(passed).toBeGreaterThan(1 - 6 / vocabulary)
    })
  })
})
