import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { toHex } from '../../../bytes/hex.ts'
import { sha256 } from '../../../bytes/sha256.ts'
import { showPatch } from '../../checkPatch.ts'
import { checkReceipt } from '../../checkReceipt.ts'
import { drawOpened, drawTraced } from '../../drawWork.ts'
import { EngineRun } from '../../engineRun.ts'
import { passChance } from '../../guarantees.ts'
import { flowOps } from '../../ops/flow.ts'
import { bitsOf, floatOf } from '../../ops/shapes.ts'
import { shapeProgram } from '../../program.ts'
import { proveWork } from '../../proveWork.ts'
import { patchRunner } from '../../runPatch.ts'
import { linksOf, type StateMark, stateRoot } from '../../stateChain.ts'
import { leafSpan, leavesOf, type TensorShape } from '../../tensor.ts'
import { depthOf, proofBytes } from '../../tensorTree.ts'
import { neededOfWork, openWork, operationsOfWork, segmentPrograms } from '../../work.ts'
import { type ExactEngine, engineOnOwned, hasherOn } from '../../workEngine.ts'
import { createWorkKernels, type WorkKernels } from '../../workKernels.ts'
import { EXACT_OPS } from '../../workOps.ts'
import { encodeSpec } from '../../workSpec.ts'
import { type CellContent, type CellState, cellFlags, fieldOf, startField } from './lattice.ts'
import { type FlowParameters, flowParameters, simulation } from './simulation.ts'
import { slicePicture } from './slice.ts'

const wasm = readFileSync(new URL('../../../../../kernels/built/work.wasm', import.meta.url))
const engine = async () => engineOnOwned(await createWorkKernels(wasm))
const hasher = hasherOn(await engine())
const runner = patchRunner<WorkKernels>(await engine(), EXACT_OPS)

interface Flow {
  readonly parameters: FlowParameters
  readonly transitions: number
  readonly interval: number
  readonly contentAt?: (x: number, y: number, z: number) => CellContent
  readonly stateAt?: (x: number, y: number, z: number) => CellState
}

/** Opens a flow and begins it; `through` may change what the kernels do. */
async function flowOf(flow: Flow, through: (engine: ExactEngine) => ExactEngine = (on) => on) {
  const { parameters, transitions, interval, contentAt = () => 'fluid', stateAt } = flow
  const given = new Map([['cells', cellFlags(parameters, contentAt)]])
  if (stateAt) given.set('start', startField(parameters, stateAt))
  const inputs = [...simulation.given(parameters)].map(([name, shape]) => ({
    name,
    uri: '',
    root: toHex(hasher.root(shape, given.get(name)!)),
  }))
  const text = encodeSpec({ kind: 'simulation', version: 1, parameters, inputs, transitions, interval })
  const order = { text, orderId: sha256(Uint8Array.of(1)), seed: sha256(Uint8Array.of(2)) }
  const work = openWork({ simulation }, EXACT_OPS, order)
  const run = new EngineRun<WorkKernels>(through(await engine()), work, given, hasher)
  const { root: firstRoot } = run.advance(-1)
  run.keep(-1)
  return { work, run, firstRoot }
}

type Running = Awaited<ReturnType<typeof flowOf>>

const runAll = ({ work, run }: Running, before: (segment: number) => void = () => {}): readonly StateMark[] =>
  work.ends.map((_, segment) => {
    before(segment)
    const mark = run.advance(segment)
    run.keep(segment)
    return mark
  })

const massOf = ({ statistics }: StateMark) => floatOf(statistics[0]!)
const energyOf = ({ statistics }: StateMark) => floatOf(statistics[1]!)

describe('the physics', () => {
  test('between two walls the flow becomes the parabola of Poiseuille, within 0.1 %', async () => {
    const [height, viscosity, acceleration] = [15, Math.sqrt(3) / 12, 1e-4]
    const parameters = flowParameters({ cells: [4, 16, 4], viscosity, acceleration: [acceleration, 0, 0] })
    const running = await flowOf({
      ...{ parameters, transitions: 2048, interval: 256 },
      contentAt: (_, y) => (y === 0 ? 'solid' : 'fluid'),
    })
    runAll(running)
    const { velocity } = fieldOf(parameters, running.run.read('populations'))
    const peak = (acceleration * height ** 2) / (8 * viscosity)
    for (let y = 1; y < 16; y++) {
      const from = y - 0.5
      const expected = (acceleration / (2 * viscosity)) * from * (height - from)
      // Half of a push is still to come where the populations were pushed already.
      expect(Math.abs(velocity[0]![y * 4]! - acceleration / 2 - expected)).toBeLessThan(0.001 * peak)
    }
  })

  test('the vortices of Taylor and Green decay as they must, within 1 %', async () => {
    const [side, viscosity, transitions] = [32, 0.05, 256]
    const k = (2 * Math.PI) / side
    const parameters = flowParameters({ cells: [side, side, 4], viscosity, start: 'given' })
    const running = await flowOf({
      ...{ parameters, transitions: 2 * transitions, interval: transitions },
      stateAt: (x, y) => [1, 0.05 * Math.cos(k * x) * Math.sin(k * y), -0.05 * Math.sin(k * x) * Math.cos(k * y), 0],
    })
    const [first, second] = runAll(running) as [StateMark, StateMark]
    const expected = Math.exp(-4 * viscosity * k ** 2 * transitions)
    expect(Math.abs(energyOf(second) / energyOf(first) / expected - 1)).toBeLessThan(0.01)
  })

  test('mass stays what it is, to rounding, around an obstacle', async () => {
    const marks = runAll(await flowOf(around(512, 64)))
    const cells = 16 * 12 * 8 - 4 * 4 * 8
    for (const mark of marks) expect(Math.abs(massOf(mark) / cells - 1)).toBeLessThan(2e-5)
  })

  test('driven cells keep a stream going that would come to rest', async () => {
    const parameters = flowParameters({ cells: [16, 12, 8], viscosity: 0.02, velocity: [0.08, 0, 0] })
    const contentAt = (x: number, y: number) => (isObstacle(x, y) ? 'solid' : x === 0 ? 'driven' : 'fluid')
    const running = await flowOf({ parameters, transitions: 512, interval: 256, contentAt })
    runAll(running)
    const { density, velocity } = fieldOf(parameters, running.run.read('populations'))
    expect(velocity[0]![8]).toBeGreaterThan(0.05)
    expect(density[7 * 16 + 7]).toBe(0)
    const picture = slicePicture(parameters, { density, velocity }, 4)
    const pixel = (x: number, y: number) => [...picture.rgb.subarray(3 * ((11 - y) * 16 + x)).subarray(0, 3)]
    expect(pixel(7, 7)).toEqual([96, 96, 96])
    expect(pixel(2, 1)).not.toEqual([0, 0, 0])
  })
})

const isObstacle = (x: number, y: number) => x >= 5 && x < 9 && y >= 4 && y < 8

function around(transitions: number, interval: number): Flow {
  const parameters = flowParameters({ cells: [16, 12, 8], viscosity: 0.02, velocity: [0.05, 0, 0], noise: 0.01 })
  return { parameters, transitions, interval, contentAt: (x, y) => (isObstacle(x, y) ? 'solid' : 'fluid') }
}

const nonceOf = (from: number) => (draw: 0 | 1) => sha256(Uint8Array.of(from >> 8, from, draw))

describe('a receipt', () => {
  test('of a flow that was computed is believed, and all of it is live', async () => {
    const running = await flowOf(around(12, 4))
    const marks = runAll(running)
    const { work, run, firstRoot } = running
    const proof = await proveWork(work, { firstRoot, marks }, run, nonceOf(1))
    const { problem, figures } = checkReceipt(work, { ...proof, workId: work.workId, firstRoot, marks }, runner)
    expect(problem).toBeNull()
    expect(figures).toMatchObject({ drawnSegments: 4, operations: 192 * 16 * 12 * 8 * 12 })
    expect(figures.liveShare).toBeGreaterThan(0.8)
  })

  test('attack 181: of a flow in which nothing happens shows that, and nothing is credited', async () => {
    const parameters = flowParameters({ cells: [16, 12, 8], viscosity: 0.02, velocity: [0.05, 0, 0] })
    const running = await flowOf({ parameters, transitions: 12, interval: 4 })
    const marks = runAll(running)
    const { work, run, firstRoot } = running
    const proof = await proveWork(work, { firstRoot, marks }, run, nonceOf(1))
    const { problem, figures } = checkReceipt(work, { ...proof, workId: work.workId, firstRoot, marks }, runner)
    expect(problem).toBeNull()
    expect(figures).toMatchObject({ liveShare: 0, credited: 0 })
  })

  test('attack 451: of cells that no flow reaches, and of figures that are told, nothing is credited', async () => {
    const { work } = await flowOf(around(12, 1))
    const flows = work.transition(1).steps.findIndex(({ op }) => op === 'flow')
    const [{ op }, shaped] = [work.transition(1).steps[flows]!, work.transition(1).shaped[flows]!]
    expect(neededOfWork(work)).toBe(12 * work.ops[op]!.operations(shaped))
    expect(neededOfWork(work)).toBeLessThan(operationsOfWork(work))
    const creditedWith = async (contentAt: NonNullable<Flow['contentAt']>) => {
      const running = await flowOf({ ...around(12, 4), contentAt })
      const marks = runAll(running)
      const { firstRoot, run } = running
      const proof = await proveWork(running.work, { firstRoot, marks }, run, nonceOf(1))
      const receipt = { ...proof, workId: running.work.workId, firstRoot, marks }
      return checkReceipt(running.work, receipt, runner).figures
    }
    // One cell in each block of 64.
    const porous = await creditedWith((x, y, z) => (x % 4 === 1 && y % 4 === 1 && z % 4 === 1 ? 'fluid' : 'solid'))
    expect(porous.credited).toBe(0)
    const half = await creditedWith((x) => (x % 4 === 0 ? 'solid' : 'fluid'))
    expect(half.liveShare).toBeLessThanOrEqual(0.75)
  })

  test('of wrong blocks is believed just where no draw meets one, as often as the formula says', async () => {
    const [segments, wrongSegments, blocks, wrongBlocks] = [200, 25, 24, 3]
    let isSpoiling = false
    /** Leaves three blocks as they were, in one segment of eight. */
    const lazy = (on: ExactEngine): ExactEngine => ({
      ...on,
      kernels: {
        ...on.kernels,
        flow(populations, cells, out, ...numbers) {
          const answer = on.kernels.flow(populations, cells, out, ...numbers)
          const bytes = wrongBlocks * 19 * 256
          if (isSpoiling) on.view(out, bytes).set(on.view(populations, bytes))
          return answer
        },
      },
    })
    const isWrong = (segment: number) => segment >= 0 && segment % 8 === 3
    const running = await flowOf(around(segments, 1), lazy)
    const spoil = (segment: number) => {
      isSpoiling = isWrong(segment)
    }
    const marks = runAll(running, spoil)
    const { work, run, firstRoot } = running
    const lastLink = linksOf(work.workId, firstRoot, marks).at(-1)!
    const traceOf = (segment: number) => sha256(Uint8Array.of(segment & 255))
    const isMissed = (nonces: (draw: 0 | 1) => Uint8Array, rootOf = traceOf) => {
      const drawn = drawTraced(work, lastLink, nonces(0))
      const traced = drawn.map((segment) => ({ segment, programs: segmentPrograms(work, segment) }))
      const draws = drawOpened(work, { lastLink, nonce: nonces(1), traced, traces: drawn.map(rootOf) })
      const meets = ({ step, patch }: { step: number; patch: number }) => step === 0 && patch < wrongBlocks
      return [...draws].every(([segment, drawn]) => !isWrong(segment) || !drawn.some(meets))
    }
    const tries = 120
    const passed = Array.from({ length: tries }, (_, i) => isMissed(nonceOf(i))).filter(Boolean).length
    const expected = passChance.openings(wrongSegments / segments, wrongBlocks / blocks)
    expect(Math.abs(passed / tries - expected)).toBeLessThan(4 * Math.sqrt((expected * (1 - expected)) / tries))
    const dishonest = {
      trace: (segment: number) => {
        spoil(segment)
        return run.trace(segment)
      },
      open: (segment: number, draws: Parameters<typeof run.open>[1]) => {
        spoil(segment)
        return run.open(segment, draws)
      },
    }
    const outcomes = new Set<string | undefined>()
    for (let i = 0; i < 3; i++) {
      const proof = await proveWork(work, { firstRoot, marks }, dishonest, nonceOf(i))
      const { problem } = checkReceipt(work, { ...proof, workId: work.workId, firstRoot, marks }, runner)
      outcomes.add(problem?.code)
    }
    expect(outcomes).toEqual(new Set([undefined, 'PATCH_WRONG']))
  })
})

/** Computes one segment, whose last transition leads back to the state that it began with, and says it of all of them. */
const looping = (interval: number) => {
  let begun: Uint8Array | null = null
  let calls = 0
  return (on: ExactEngine): ExactEngine => ({
    ...on,
    kernels: {
      ...on.kernels,
      flow(populations, cells, out, ...numbers) {
        begun ??= on.view(populations, (16 * 12 * 8 * 19 * 256) / 64).slice()
        if (++calls % interval > 0) return on.kernels.flow(populations, cells, out, ...numbers)
        on.view(out, begun.length).set(begun)
        return 0
      },
    },
  })
}

test('attack 223: segments that are all the same are each looked at in places of their own', async () => {
  const [segments, interval] = [32, 8]
  const { work, run, firstRoot } = await flowOf(around(segments * interval, interval), looping(interval))
  const mark = run.advance(0)
  expect(mark.root).toEqual(firstRoot)
  const marks = work.ends.map((transition) => ({ ...mark, transition }))
  const traces = [run.trace(-1), run.trace(0)]
  const dishonest = {
    trace: (segment: number) => traces[Math.min(segment, 0) + 1]!,
    open: (segment: number, draws: Parameters<typeof run.open>[1]) => run.open(Math.min(segment, 0), draws),
  }
  // One transition of eight is wrong in every segment. 4 of 30 draws were believed, these among them.
  expect(passChance.openings(1, 1 / interval)).toBeLessThan(2 ** -24)
  for (const draw of [4, 13, 14, 22]) {
    const proof = await proveWork(work, { firstRoot, marks }, dishonest, nonceOf(draw))
    const { problem } = checkReceipt(work, { ...proof, workId: work.workId, firstRoot, marks }, runner)
    expect(problem).toMatchObject({ code: 'PATCH_WRONG', step: 'flow' })
  }
})

test('attack 226: a state that was committed before is dead, however lively the flow that goes round', async () => {
  const still = { viscosity: 0.5, noise: 0.1 }
  const one = await flowOf({
    parameters: flowParameters({ cells: [4, 4, 4], ...still }),
    transitions: 100,
    interval: 1,
  })
  runAll(one)
  // Waves of four transitions that never die down: exact in every bit, in as many blocks as one likes.
  const wave = one.run.read('populations')
  const [parameters, segments] = [flowParameters({ cells: [8, 8, 8], ...still }), 64]
  const { work, run, firstRoot } = await flowOf({ parameters, transitions: segments, interval: 1 })
  const everywhere = new Uint8Array(8 * wave.length).map((_, i) => wave[i % wave.length]!)
  const shape = work.state.get('populations')!
  const left = { ...run.advance(0), root: stateRoot([hasher.root(shape, everywhere)]) }
  const marks = [left, run.replayFrom(1, new Map([['populations', everywhere]]))]
  run.keep(1)
  for (let segment = 2; segment < segments; segment++) {
    marks.push(run.advance(segment))
    run.keep(segment)
  }
  const proof = await proveWork(work, { firstRoot, marks }, run, nonceOf(1))
  const { problem, figures } = checkReceipt(work, { ...proof, workId: work.workId, firstRoot, marks }, runner)
  expect([problem, figures.credited, figures.liveShare]).toEqual([null, 0, 4 / segments])
})

test('a flow may be as fast as 0.3 cells in a transition, and no faster', () => {
  const flow = (speed: number) => flowParameters({ cells: [4, 4, 4], viscosity: 0.02, velocity: [speed, -speed, 0] })
  expect(flow(0.3).velocity[0]).toBe(bitsOf(0.3))
  expect(() => flow(0.3001)).toThrow()
})

test('what one patch shows stays small at 256^3 cells: 16 kB of cells, 9 kB of hashes', () => {
  const blocks = 64 ** 3
  const populations: TensorShape = { type: 'f32', rows: 19 * blocks, width: 64 }
  const cells: TensorShape = { type: 'u32', rows: blocks, width: 64 }
  const still = { omega: 0, velocityX: 0, velocityY: 0, velocityZ: 0, pushX: 0, pushY: 0, pushZ: 0 }
  const numbers = { blocksX: 64, blocksY: 64, blocksZ: 64, ...still }
  const step = { inputs: [populations, cells], outputs: [populations], numbers }
  const program = shapeProgram(flowOps, {
    there: new Map([
      ['before', populations],
      ['cells', cells],
    ]),
    ...{ steps: [{ op: 'flow', inputs: ['before', 'cells'], outputs: ['made'], numbers }], after: ['made'] },
    statistics: [],
  })
  for (const block of [0, 12_345, 130_000, blocks - 1]) {
    let [bytes, hashes] = [0, 0]
    showPatch(program, 0, flowOps.flow.patch(step, block), (_, shape, leaves, shown) => {
      bytes += shown.reduce((sum, leaf) => sum + leafSpan(shape, leaf).length, 0)
      hashes += proofBytes(depthOf(leavesOf(shape)), leaves)
      return (leaf) => new Uint8Array(leafSpan(shape, leaf).length)
    })
    // What the block becomes is made by whoever checks.
    expect(bytes).toBe((61 + 1) * 256)
    expect(hashes).toBeLessThan(10_000)
  }
})
