// Flow and pictures on an NVIDIA card: random small works against the processor, then real sizes and what exactness costs.
//   node kinds.js [--cases 100] [--side 256] [--steps 256] [--scene room.glb] [--fast workFast.ptx] [--skip small,compare,picture,flow,patches] [--out FILE]
// Packed by bench/gpu/pack.mjs. --fast names kernels/cuda/work.cu as clang-19 builds it with what nvcc calls
// -use_fast_math: bench/gpu/fastPtx.mjs writes it. Ends with 1 where a bit differs.
import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { toHex } from '../../src/core/bytes/hex.ts'
import { sha256 } from '../../src/core/bytes/sha256.ts'
import { checkSegment } from '../../src/core/work/checkSegment.ts'
import { drawPatches } from '../../src/core/work/draws.ts'
import { EngineRun } from '../../src/core/work/engineRun.ts'
import { type Scene, sceneTensors } from '../../src/core/work/kinds/rendering/scene.ts'
import { cellFlags } from '../../src/core/work/kinds/simulation/lattice.ts'
import { flowParameters } from '../../src/core/work/kinds/simulation/simulation.ts'
import { bitsOf, floatOf } from '../../src/core/work/ops/shapes.ts'
import { showTrace } from '../../src/core/work/proveWork.ts'
import { patchRunner } from '../../src/core/work/runPatch.ts'
import type { StateMark } from '../../src/core/work/stateChain.ts'
import { tracedSegment } from '../../src/core/work/trace.ts'
import { holdGiven } from '../../src/core/work/work.ts'
import { hasherOn } from '../../src/core/work/workEngine.ts'
import type { WorkKernels } from '../../src/core/work/workKernels.ts'
import { EXACT_OPS } from '../../src/core/work/workOps.ts'
import { openExactEngine } from '../../src/drivers/gpu/cpu/work/openCpuWork.ts'
import { openCublasLt } from '../../src/drivers/gpu/cuda/cublasLt.ts'
import { loadLibcuda } from '../../src/drivers/gpu/cuda/loadLibcuda.ts'
import { WorkCard } from '../../src/drivers/gpu/cuda/work/card.ts'
import { CardRun } from '../../src/drivers/gpu/cuda/work/cardRun.ts'
import { readGltf } from '../../src/drivers/scene/readGltf.ts'
import { kernelPath } from '../../src/drivers/system/kernelFiles.ts'
import { chanceFlow, chancePicture, type ReadyWork, readyWork } from '../../test/support/smallWorks.ts'
import { chanceFrom } from '../../test/support/workTrials.ts'

const { values } = parseArgs({
  options: {
    cases: { type: 'string', default: '100' },
    side: { type: 'string', default: '256' },
    steps: { type: 'string', default: '256' },
    scene: { type: 'string', default: 'examples/room.glb' },
    rows: { type: 'string', default: '2' },
    fast: { type: 'string' },
    skip: { type: 'string', default: '' },
    out: { type: 'string' },
  },
})
const isWanted = (part: string) => !values.skip.split(',').includes(part)
const api = loadLibcuda()
const hasher = hasherOn(await openExactEngine())
const report: Record<string, unknown> = { card: api.deviceName(0) }
let differences = 0
const say = (line: string) => console.log(line)

const exactPtx = () => readFileSync(kernelPath('work.ptx'), 'utf8')
const openCard = (ptx: string) =>
  new WorkCard({ api, context: api.openContext(0, 'own'), library: openCublasLt(), ptx, fieldPtx: '', fusedPtx: null })

const ownEngine = await openExactEngine()
const markOf = (mark: { root: Uint8Array; statistics: readonly number[] }) =>
  `${toHex(mark.root)} ${mark.statistics.join(' ')}`

/** Every mark of a work on the card and on the processor, up to so many segments. */
async function compare(card: WorkCard, { work, given }: ReadyWork, segments = work.ends.length): Promise<boolean> {
  const cpu = new EngineRun<WorkKernels>(ownEngine, work, given, hasher)
  const run = await CardRun.start(card, work, given)
  let same = true
  if (!work.isIndependent) same = markOf(cpu.advance(-1)) === markOf(await run.advance(-1))
  for (let segment = 0; segment < segments; segment++)
    same = markOf(cpu.advance(segment)) === markOf(await run.advance(segment)) && same
  return same
}

async function compareSmall(card: WorkCard, cases: number): Promise<void> {
  for (const [name, make] of Object.entries({ flow: chanceFlow, picture: chancePicture })) {
    let wrong = 0
    for (let seed = 0; seed < cases; seed++) if (!(await compare(card, make(chanceFrom(seed), hasher)))) wrong++
    differences += wrong
    report[`small ${name}`] = { cases, wrong }
    say(`${name}: ${cases} random works on the card and on the processor, ${wrong} differ`)
  }
}

/** Seconds from one state to the next, over some segments; the first is not counted. */
async function timed(card: WorkCard, { work, given }: ReadyWork): Promise<number> {
  const run = await CardRun.start(card, work, given)
  if (!work.isIndependent) await run.advance(-1)
  await run.advance(0)
  const started = performance.now()
  for (let segment = 1; segment < work.ends.length; segment++) await run.advance(segment)
  return (performance.now() - started) / 1000 / (work.ends.length - 1)
}

/** What hashing a state takes with nothing beside it. */
async function hashSeconds(card: WorkCard, { work, given }: ReadyWork): Promise<number> {
  const run = await CardRun.start(card, work, given)
  await run.advance(work.isIndependent ? 0 : -1)
  const places = [...work.state.keys()].map((name) => card.memory.place(name))
  const roots = card.zeros('roots of a bench', 8 * places.length)
  const times = 20
  card.roots(places, roots.at)
  await card.settle()
  const started = performance.now()
  for (let i = 0; i < times; i++) card.roots(places, roots.at)
  await card.settle()
  return (performance.now() - started) / 1000 / times
}

/** Runs with and without hashes, in turns: a card grows hot. */
const PAIRS = 4

/** What hashing every state adds to the whole time: the same work with and without. */
async function commitments(card: WorkCard, ready: ReadyWork) {
  const rootsAsMade = card.rootsAsMade.bind(card)
  const [without, beside]: [number[], number[]] = [[], []]
  for (let pair = 0; pair < PAIRS; pair++) {
    card.rootsAsMade = (_, to, isBeside) => rootsAsMade([], to, isBeside)
    without.push(await timed(card, ready))
    card.rootsAsMade = rootsAsMade
    beside.push(await timed(card, ready))
  }
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
  return { without, with: beside, share: mean(beside) / mean(without) - 1 }
}

/** Every segment run again step by step, and so many draws of patches of each recomputed here. */
async function comparePatches(name: string, card: WorkCard, { work, given }: ReadyWork, sets: number): Promise<void> {
  const run = await CardRun.start(card, work, given)
  const held = holdGiven(work, given, (shape, bytes) => hasher.root(shape, bytes))
  let before = new Uint8Array(32) as Uint8Array
  if (!work.isIndependent) {
    before = (await run.advance(-1)).root
    await run.keep(-1)
  }
  const marks: StateMark[] = []
  for (const segment of work.ends.keys()) marks.push(await run.advance(segment))
  const counts: Record<string, number> = {}
  let wrong = 0
  for (const [segment, after] of marks.entries()) {
    const traced = tracedSegment(work, segment, { before: segment === 0 ? before : marks[segment - 1]!.root, after })
    const { programs } = traced
    const draws = Array.from({ length: sets }, (_, i) =>
      drawPatches(EXACT_OPS, programs, sha256(Uint8Array.of(segment, i))),
    ).flat()
    const shown = showTrace(traced, await run.trace(segment)).opened(draws)
    const evidence = { ...shown, patches: await run.open(segment, draws) }
    const problem = checkSegment(held, traced, draws, evidence, patchRunner(ownEngine, EXACT_OPS))
    if (problem) say(`  segment ${segment}: ${JSON.stringify(problem)}`)
    if (problem) wrong++
    for (const { transition, step } of draws) {
      const { op } = programs[transition]!.steps[step]!
      counts[op] = (counts[op] ?? 0) + 1
    }
  }
  differences += wrong
  report[`patches of ${name}`] = { segments: marks.length, wrong, counts }
  say(`patches of ${name}: ${JSON.stringify(counts)} in ${marks.length} segments, ${wrong} of these wrong`)
}

const flagsOf = new Map<number, Uint8Array>()

function realFlow(side: number, transitions: number, interval: number): ReadyWork {
  const parameters = flowParameters({
    cells: [side, side, side],
    viscosity: 0.02,
    velocity: [0.08, 0, 0],
    noise: 0.001,
  })
  const isInside = (x: number, y: number) => (x - side / 4) ** 2 + (y - side / 2) ** 2 <= (side / 8) ** 2
  const flags =
    flagsOf.get(side) ?? cellFlags(parameters, (x, y) => (isInside(x, y) ? 'solid' : x === 0 ? 'driven' : 'fluid'))
  flagsOf.set(side, flags)
  return readyWork({ kind: 'simulation', parameters, transitions, interval }, new Map([['cells', flags]]), hasher)
}

function realPicture(scene: Scene, [width, height]: readonly [number, number], samples: number): ReadyWork {
  const light = [bitsOf(0.5), bitsOf(0.7), bitsOf(1)]
  const counts = { triangles: scene.triangles.length, materials: scene.materials.length }
  const parameters = {
    ...{ width, height, samples, bounces: 6, ...counts },
    ...{ epsilon: bitsOf(1e-4), zenith: light, horizon: light },
  }
  const given = sceneTensors(scene, { width, height })
  return readyWork({ kind: 'rendering', parameters, transitions: height / 8, interval: 1 }, given, hasher)
}

async function realFlows(cards: Cards, side: number, steps: number): Promise<void> {
  const each = async (card: WorkCard) => (await timed(card, realFlow(side, 2 * steps, steps))) / steps
  const [exact, fast] = [await each(cards.exact), cards.fast && (await each(cards.fast))]
  const hashed = await hashSeconds(cards.exact, realFlow(side, 1, 1))
  const same = !isWanted('compare') || (await compare(cards.exact, realFlow(side, 1, 1)))
  if (!same) differences++
  const found = {
    ...{ side, same, milliseconds: 1000 * exact, cellsPerSecond: side ** 3 / exact },
    ...{ bytesPerSecond: (2 * 19 * 4 * side ** 3) / exact, ofFastMath: fast && fast / exact },
    ...{
      hashMilliseconds: 1000 * hashed,
      ...{ commitments: await commitments(cards.exact, realFlow(side, 5 * steps, steps)) },
    },
  }
  report.flow = found
  if (isWanted('patches')) await comparePatches('the flow', cards.exact, realFlow(side, 4, 4), 64)
  say(`flow of ${side}^3: ${JSON.stringify(found)}`)
}

async function realPictures(cards: Cards, scene: Scene): Promise<void> {
  const picture = realPicture(scene, [1280, 720], 64)
  const same = !isWanted('compare') || (await compare(cards.exact, picture, Number(values.rows)))
  if (!same) differences++
  const [exact, fast] = [await timed(cards.exact, picture), cards.fast && (await timed(cards.fast, picture))]
  const run = await CardRun.start(cards.exact, picture.work, picture.given)
  let rays = 0
  for (const segment of picture.work.ends.keys()) rays += floatOf((await run.advance(segment)).statistics[0]!)
  const hashed = await hashSeconds(cards.exact, picture)
  const rows = picture.work.ends.length
  const found = {
    ...{ pixels: '1280x720', samples: 64, triangles: scene.triangles.length, same, seconds: rows * exact, rays },
    ...{ raysPerSecond: rays / (rows * exact), ofFastMath: fast && fast / exact, hashMilliseconds: 1000 * hashed },
    commitments: await commitments(cards.exact, picture),
  }
  report.picture = found
  if (isWanted('patches')) await comparePatches('the picture', cards.exact, picture, 1)
  say(`picture: ${JSON.stringify(found)}`)
}

interface Cards {
  readonly exact: WorkCard
  readonly fast: WorkCard | null
}

const cards: Cards = {
  exact: openCard(exactPtx()),
  fast: values.fast === undefined ? null : openCard(readFileSync(values.fast, 'utf8')),
}
if (isWanted('small')) await compareSmall(cards.exact, Number(values.cases))
if (isWanted('picture')) await realPictures(cards, await readGltf(readFileSync(values.scene)))
if (isWanted('flow')) await realFlows(cards, Number(values.side), Number(values.steps))
if (values.out !== undefined) writeFileSync(values.out, `${JSON.stringify(report, null, 2)}\n`)
process.exit(differences === 0 ? 0 : 1)
