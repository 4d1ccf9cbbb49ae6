// Exact work on the NVIDIA cards of this machine: every op and whole trainings against WebAssembly, then speed.
//   node work.js [--cases 120] [--models small,large] [--skip ops,training,fused,patches,largePatches,speed,hashes,half] [--steps] [--shards 2] [--profile] [--out FILE]
// Packed by bench/gpu/pack.mjs. Ends with 1 where a bit differs.
import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { devicesAsOne } from '../../src/apps/work/devicesAsOne.ts'
import { toHex } from '../../src/core/bytes/hex.ts'
import { sha256 } from '../../src/core/bytes/sha256.ts'
import { checkSegment } from '../../src/core/work/checkSegment.ts'
import { drawPatches } from '../../src/core/work/draws.ts'
import { EngineRun } from '../../src/core/work/engineRun.ts'
import { training } from '../../src/core/work/kinds/training/training.ts'
import { bitsOf, floatOf } from '../../src/core/work/ops/shapes.ts'
import { operationsOf, type ShapedProgram } from '../../src/core/work/program.ts'
import { showTrace } from '../../src/core/work/proveWork.ts'
import { patchRunner } from '../../src/core/work/runPatch.ts'
import { tracedSegment } from '../../src/core/work/trace.ts'
import { openWork, segmentPrograms } from '../../src/core/work/work.ts'
import { engineOnOwned, hasherOn } from '../../src/core/work/workEngine.ts'
import {
  createWorkKernels,
  kernelsFrom,
  WORK_ARGUMENTS,
  WORK_OPS,
  type WorkKernels,
} from '../../src/core/work/workKernels.ts'
import { EXACT_OPS } from '../../src/core/work/workOps.ts'
import { encodeSpec } from '../../src/core/work/workSpec.ts'
import { openCublasLt } from '../../src/drivers/gpu/cuda/cublasLt.ts'
import { loadLibcuda } from '../../src/drivers/gpu/cuda/loadLibcuda.ts'
import { WorkCard } from '../../src/drivers/gpu/cuda/work/card.ts'
import { CardRun } from '../../src/drivers/gpu/cuda/work/cardRun.ts'
import { fusedFiles, openCudaWork } from '../../src/drivers/gpu/cuda/work/openCudaWork.ts'
import { planProgram } from '../../src/drivers/gpu/cuda/work/plan.ts'
import { kernelPath } from '../../src/drivers/system/kernelFiles.ts'
import type { WorkDevice, WorkRun } from '../../src/ports/workDevice.ts'
import { type Family, tinyTraining } from '../../test/support/tinyTraining.ts'
import { Arena, chanceFrom, WORK_TRIALS } from '../../test/support/workTrials.ts'

const { values } = parseArgs({
  options: {
    cases: { type: 'string', default: '120' },
    models: { type: 'string', default: 'small,large' },
    skip: { type: 'string', default: '' },
    profile: { type: 'boolean', default: false },
    steps: { type: 'boolean', default: false },
    shards: { type: 'string' },
    out: { type: 'string' },
  },
})
const skipped = values.skip.split(',')
const api = loadLibcuda()
const wasmBytes = readFileSync(kernelPath('work.wasm'))
const openEngine = async () => engineOnOwned(await createWorkKernels(wasmBytes))
const openWorkCard = (isFused: boolean) => {
  const context = api.openContext(0, 'own')
  const ptx = readFileSync(kernelPath('work.ptx'), 'utf8')
  const fused = fusedFiles(9).map((name) => readFileSync(kernelPath(name), 'utf8'))
  const fusedPtx = isFused ? fused : null
  return new WorkCard({ api, context, library: openCublasLt(), ptx, fieldPtx: '', fusedPtx })
}
let differences = 0
const report: Record<string, unknown> = { card: api.deviceName(0) }
const say = (line: string) => console.log(line)

const MEMORY = 2 ** 22
/** Kernels whose pointers count from where a tensor lies. */
const shifted = (kernels: WorkKernels, base: number): WorkKernels =>
  kernelsFrom(WORK_OPS, (name) => (...args) => {
    const letters = WORK_ARGUMENTS[name]
    const call = kernels[name] as (...args: readonly number[]) => number
    return call(...args.map((value, i) => (letters[i] === 'o' && value !== 0 ? value + base : value)))
  })

/** From opened leaves to a root is a checker's way: a card has no kernel for it, and says that it failed. */
const CARD_OPS = WORK_OPS.filter((op) => op !== 'climb')

/** Random calls of every op on the card and in WebAssembly: answers, and every byte of the memory after it. */
async function compareOps(cases: number): Promise<void> {
  const wasm = await createWorkKernels(wasmBytes)
  const memory = new Uint8Array(wasm.memory(MEMORY))
  const card = openWorkCard(false)
  for (const op of CARD_OPS) {
    let [wrong, faults] = [0, 0]
    for (let seed = 0; seed < cases; seed++) {
      const arena = new Arena(wasm.free)
      const trial = WORK_TRIALS[op](arena, chanceFrom(1000 * seed + WORK_OPS.indexOf(op)))
      arena.fill(memory, wasm.free)
      const place = card.write('arena', { type: 'u8', rows: 1, width: arena.end }, memory.slice(0, arena.end))
      const answer = trial(wasm.kernels)
      const fault = card.write('fault', { type: 'u32', rows: 1, width: 1 }, new Uint8Array(4))
      card.faultsAt(BigInt(fault.at))
      trial(shifted(card.kernels, place.at))
      const got = (await card.readWhole(fault))[0]!
      const after = await card.readWhole(place)
      const at = after.subarray(wasm.free).findIndex((byte, i) => byte !== memory[wasm.free + i])
      // What is no number is never compared.
      const differs = got !== answer || (answer === 0 && at >= 0)
      if (differs && wrong++ < 3) say(`  ${op} ${seed}: answer ${got} for ${answer}, byte ${at}`)
      faults += answer
      for (const name of ['arena', 'fault']) card.memory.free(name)
    }
    differences += wrong
    if (wrong > 0) say(`FAIL ${op}: ${wrong} of ${cases}`)
    report[`op ${op}`] = { cases, wrong, faults }
  }
  card.close()
  say(`ops: ${CARD_OPS.length} with ${cases} random calls each, ${differences} differ`)
}

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)
const hexed = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (_, x) => (x instanceof Uint8Array ? toHex(x) : x)))

/** A tiny training on both: every mark, a trace, patches, weights. */
async function compareTraining(family: Family, transitions: number): Promise<void> {
  const hasher = hasherOn(await openEngine())
  const { work, given } = tinyTraining(family, transitions, hasher)
  const cpu = new EngineRun<WorkKernels>(await openEngine(), work, given, hasher)
  const card = openCudaWork({ ordinals: [0] })[0]!
  const run = await card.start(work, given)
  const found: Record<string, boolean> = {}
  found.begin = same(hexed(cpu.advance(-1)), hexed(await run.advance(-1)))
  let equal = 0
  for (const segment of work.ends.keys()) {
    if (segment === transitions - 1) {
      cpu.keep(segment - 1)
      await run.keep(segment - 1)
    }
    if (same(hexed(cpu.advance(segment)), hexed(await run.advance(segment)))) equal++
  }
  found.marks = equal === transitions
  const last = transitions - 1
  const [mine, theirs] = [cpu.trace(last), await run.trace(last)]
  found.trace = same(hexed(mine), hexed(theirs))
  if (!found.trace) {
    const at = mine.findIndex((root, i) => toHex(root) !== toHex(theirs[i]!))
    const step = at - work.state.size
    say(`  first step that differs: ${step} ${work.transition(transitions).steps[step]?.op}`)
  }
  const draws = drawPatches(EXACT_OPS, segmentPrograms(work, last), sha256(Uint8Array.of(7)))
  found.patches = same(hexed(cpu.open(last, draws)), hexed(await run.open(last, draws)))
  await card.close()
  differences += Object.values(found).filter((isSame) => !isSame).length
  say(`training of a tiny ${family}, ${transitions} transitions: ${equal} marks equal, ${JSON.stringify(found)}`)
  report[`training ${family}`] = { transitions, equal, ...found }
}

interface BigShape {
  readonly layers: number
  readonly width: number
  readonly heads: number
  readonly tokens: number
  readonly sequences: number
  readonly family?: 'gpt' | 'llama'
}
const SHAPES = {
  small: { layers: 12, width: 768, heads: 12, tokens: 1024, sequences: 16 },
  medium: { layers: 24, width: 1024, heads: 16, tokens: 1024, sequences: 16 },
  large: { layers: 24, width: 2048, heads: 16, tokens: 1024, sequences: 16 },
} as const satisfies Record<string, BigShape>

async function trainingOf(shape: BigShape, transitions: number, more: { readonly shards?: number } = {}) {
  const { layers, width, heads, tokens, sequences, family = 'gpt' } = shape
  const isGpt = family === 'gpt'
  const sizes = { layers, width, heads, keyHeads: heads, headSize: width / heads, hidden: 4 * width }
  const model = {
    family,
    ...sizes,
    vocabulary: 256,
    context: tokens,
    hasQkvBias: isGpt,
    isTied: false,
    rotaryBase: bitsOf(10_000),
  }
  const numbers = { beta1: 0.9, beta2: 0.95, epsilon: 1e-8, decay: 0.1, clip: 1 }
  const bits = Object.fromEntries(Object.entries(numbers).map(([key, value]) => [key, bitsOf(value)]))
  const optimiser = { name: 'adamW', ...bits, rates: [[0, bitsOf(3e-4)]] }
  const windows = 8 * sequences
  const parameters = { model, optimiser, sequences, tokens, windows, start: 'fresh', ...more }
  const data = Uint32Array.from({ length: windows * (tokens + 1) }, (_, i) => (i * i + (i >> 5)) % 251)
  const given = new Map([['data', new Uint8Array(data.buffer)]])
  const hasher = hasherOn(await openEngine())
  const shapes = training.given(training.parameters.parse(parameters))
  const inputs = [...shapes].map(([name, of]) => ({ name, uri: '', root: toHex(hasher.root(of, given.get(name)!)) }))
  const text = encodeSpec({ kind: 'training', version: 1, parameters, inputs, transitions, interval: 1 })
  const order = { text, orderId: sha256(Uint8Array.of(1)), seed: sha256(Uint8Array.of(2)) }
  return { work: openWork({ training }, EXACT_OPS, order), given, hasher }
}

/** Fused steps against the engine, or against single steps on the card where the engine would take too long. */
async function compareFused(name: string, shape: BigShape, transitions: number, against: 'engine' | 'steps') {
  const { work, given, hasher } = await trainingOf(shape, transitions)
  const card = openWorkCard(true)
  const run = await CardRun.start(card, work, given)
  const marks = [await run.advance(-1)]
  for (const segment of work.ends.keys()) marks.push(await run.advance(segment))
  card.close()
  const other: unknown[] = []
  if (against === 'engine') {
    const cpu = new EngineRun<WorkKernels>(await openEngine(), work, given, hasher)
    for (const segment of [-1, ...work.ends.keys()]) other.push(cpu.advance(segment))
  } else {
    const plain = openWorkCard(false)
    const single = await CardRun.start(plain, work, given)
    for (const segment of [-1, ...work.ends.keys()]) other.push(await single.advance(segment))
    plain.close()
  }
  const isSame = same(hexed(marks), hexed(other))
  if (!isSame) differences++
  say(`fused ${name}, ${transitions} transitions against ${against}: ${isSame ? 'every mark equal' : 'DIFFERS'}`)
  if (!isSame) say(JSON.stringify([hexed(marks), hexed(other)]))
  report[`fused ${name}`] = { transitions, against, isSame }
}

/**
 * W3.8. One work in shards: as one program on this card, by two runs that share the shards on this card, and on the
 * processor where it does not take too long. Every mark must be the same.
 */
async function compareShards(name: string, shape: BigShape, transitions: number, shards: number, hasCpu: boolean) {
  const { work, given, hasher } = await trainingOf(shape, transitions, { shards })
  const marksOf = async (run: Pick<WorkRun, 'advance'> | EngineRun<WorkKernels>) => {
    const marks: unknown[] = []
    for (const segment of [-1, ...work.ends.keys()]) marks.push(hexed(await run.advance(segment)))
    return marks
  }
  const onDevice = async (device: WorkDevice) => {
    const from = performance.now()
    const marks = await marksOf(await device.start(work, given))
    await device.close()
    return { marks, seconds: seconds(from) }
  }
  const alone = await onDevice(openCudaWork({ ordinals: [0] })[0]!)
  const [first, second] = openCudaWork({ ordinals: [0, 0] })
  const shared = await onDevice(devicesAsOne([first!, second!]))
  const cpu = hasCpu ? await marksOf(new EngineRun<WorkKernels>(await openEngine(), work, given, hasher)) : null
  const isSame = same(alone.marks, shared.marks) && (cpu === null || same(alone.marks, cpu))
  if (!isSame) differences++
  const against = cpu ? 'one program = two runs = processor' : 'one program = two runs'
  say(`${shards} shards of ${name}, ${transitions} transitions, ${against}: ${isSame ? 'every mark equal' : 'DIFFERS'}`)
  report[`${shards} shards of ${name}`] = {
    ...{ transitions, isSame, hasCpu, secondsAlone: alone.seconds, secondsShared: shared.seconds },
  }
}

/** A fused transition of real size, run again step by step: its trace leads to the same state, and patches of it are a CPU's. */
async function comparePatches(name: string, shape: BigShape, wanted: number): Promise<void> {
  const { work, given } = await trainingOf(shape, 1)
  const card = openWorkCard(true)
  const run = await CardRun.start(card, work, given)
  const before = await run.advance(-1)
  await run.keep(-1)
  const after = await run.advance(0)
  const traced = tracedSegment(work, 0, { before: before.root, after })
  const { programs } = traced
  const draws = Array.from({ length: Math.ceil(wanted / 32) }, (_, i) =>
    drawPatches(EXACT_OPS, programs, sha256(Uint8Array.of(i))),
  ).flat()
  const shown = showTrace(traced, await run.trace(0)).opened(draws)
  const evidence = { ...shown, patches: await run.open(0, draws) }
  card.close()
  const problem = checkSegment(work, traced, draws, evidence, patchRunner(await openEngine(), EXACT_OPS))
  if (problem) differences++
  say(`${name}: ${draws.length} patches recomputed, ${problem ? JSON.stringify(problem) : 'every bit equal'}`)
  report[`patches of ${name}`] = { patches: draws.length, problem }
}

/** Transitions that are timed. */
const TIMED = 6

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length
const seconds = (since: number): number => (performance.now() - since) / 1000

/** Milliseconds of every kind of action of a transition, between events; the state is used up. */
async function profile(card: WorkCard, program: ShapedProgram): Promise<Record<string, number>> {
  const { memory } = card
  const fault = card.write('fault', { type: 'u32', rows: 1, width: 1 }, new Uint8Array(4))
  card.faultsAt(BigInt(fault.at))
  const actions = planProgram(program, card.canFuse)
  const events = actions.map(() => [api.createEvent(), api.createEvent()] as const)
  for (const [at, { nodes, fused, outputs, free }] of actions.entries()) {
    const isShared = nodes[0]!.op === 'reshape' && !fused
    const places = isShared ? [] : outputs.map((name) => memory.make(name, program.shapes.get(name)!))
    api.recordEvent(events[at]![0], card.stream)
    if (fused) card.fused(fused)
    else if (isShared) memory.share(outputs[0]!, nodes[0]!.inputs[0]!, program.shapes.get(outputs[0]!)!)
    else {
      const { op, inputs, numbers, shaped } = nodes[0]!
      card.step(EXACT_OPS, op, shaped, { inputs: inputs.map((name) => memory.place(name)), outputs: places, numbers })
    }
    api.recordEvent(events[at]![1], card.stream)
    for (const name of free) memory.free(name)
  }
  await card.settle()
  const spent: Record<string, number> = {}
  for (const [at, { nodes }] of actions.entries()) {
    const isAttention = nodes.length > 8 || nodes.some(({ numbers }) => numbers.batch !== undefined)
    const ops = nodes.length > 8 ? `${nodes.length} steps` : nodes.map(({ op }) => op).join(' + ')
    const key = `${ops}${isAttention ? ' (attention)' : ''}`
    spent[key] = (spent[key] ?? 0) + api.elapsedMs(...events[at]!)
  }
  return Object.fromEntries(Object.entries(spent).sort((a, b) => b[1] - a[1]))
}

/** Operations a second of one product of the sizes, hot. */
async function bareProduct(card: WorkCard, n: number): Promise<number> {
  const shape = { type: 'i8', rows: n, width: n } as const
  const bytes = new Uint8Array(n * n).map((_, i) => ((i * 2654435761) >>> 13) & 63)
  const places = [card.write('a', shape, bytes), card.write('b', shape, bytes)]
  const out = card.memory.make('c', { type: 'i32', rows: n, width: n })
  const call = () => card.kernels.product(places[0]!.at, places[1]!.at, out.at, n, n, n, 1, 1, 0, 0)
  for (let i = 0; i < 5; i++) call()
  await card.settle()
  const from = performance.now()
  for (let i = 0; i < 40; i++) call()
  await card.settle()
  const rate = (40 * 2 * n ** 3) / seconds(from)
  for (const name of ['a', 'b', 'c']) card.memory.free(name)
  return rate
}

/** Seconds of a transition, after two that are not counted: the card goes on while its states are hashed. */
async function timed(card: WorkCard, shape: BigShape, isHashed: boolean) {
  const { work, given } = await trainingOf(shape, 2 + TIMED)
  const rootsAsMade = card.rootsAsMade.bind(card)
  if (!isHashed) card.rootsAsMade = (_, to, isBeside) => rootsAsMade([], to, isBeside)
  const run = await CardRun.start(card, work, given)
  const losses: number[] = []
  const times: number[] = []
  let from = performance.now()
  for (const segment of [-1, ...work.ends.keys()]) {
    const mark = await run.advance(segment)
    times.push(seconds(from))
    from = performance.now()
    if (segment >= 0) losses.push(floatOf(mark.statistics[0]!))
  }
  card.rootsAsMade = rootsAsMade
  const counted = times.slice(-TIMED)
  return { each: mean(counted), times, losses, work, given }
}

/** Runs with and without hashes, in turns: a card grows hot. */
const PAIRS = 3

/** What the hashes of every state cost: the same transitions with and without them; and what they take with nothing beside. */
async function measureHashes(name: string, shape: BigShape): Promise<void> {
  const card = openWorkCard(true)
  const [without, beside]: [number[], number[]] = [[], []]
  for (let pair = 0; pair < PAIRS; pair++) {
    without.push((await timed(card, shape, false)).each)
    beside.push((await timed(card, shape, true)).each)
  }
  const { work } = await trainingOf(shape, 1)
  const places = [...work.state.keys()].map((state) => card.memory.place(state))
  const roots = card.zeros('roots of a bench', 8 * places.length)
  card.roots(places, roots.at)
  await card.settle()
  const from = performance.now()
  for (let i = 0; i < 3; i++) card.roots(places, roots.at)
  await card.settle()
  const alone = seconds(from) / 3
  card.close()
  const [off, on] = [mean(without), mean(beside)]
  const share = on / off - 1
  const tokens = shape.sequences * shape.tokens
  say(
    `hashes of ${name}, ${tokens} tokens: ${(100 * share).toFixed(2)} % (${off.toFixed(4)} s without; ${(1000 * alone).toFixed(1)} ms alone)`,
  )
  report[`hashes ${name}`] = { tokens, layers: shape.layers, without, with: beside, alone, share }
}

async function measure(name: keyof typeof SHAPES, isFused: boolean): Promise<void> {
  const card = openWorkCard(isFused)
  const bare = await bareProduct(card, 8192)
  card.memory.clear()
  const { each: best, times, losses, work, given } = await timed(card, SHAPES[name], true)
  const operations = operationsOf(EXACT_OPS, work.transition(1))
  const tokens = SHAPES[name].sequences * SHAPES[name].tokens
  const row = {
    tokensPerSecond: tokens / best,
    seconds: times,
    losses,
    operations,
    bare,
    share: operations / best / bare,
    freeBytes: api.freeMemory().freeBytes,
  }
  say(
    `${name}: ${row.tokensPerSecond.toFixed(0)} tokens/s, ${(1000 * best).toFixed(1)} ms, ${(100 * row.share).toFixed(1)} % of the bare product (${(bare / 1e12).toFixed(0)} T/s), losses ${losses.map((loss) => loss.toFixed(4)).join(' ')}`,
  )
  report[`${name}${isFused ? '' : ' step by step'}`] = row
  if (values.profile) {
    const run = await CardRun.start(card, work, given)
    await run.advance(-1)
    const spent = await profile(card, work.transition(1))
    const total = Object.values(spent).reduce((sum, ms) => sum + ms, 0)
    say(`  ${total.toFixed(1)} ms in steps`)
    for (const [op, ms] of Object.entries(spent).slice(0, 32)) say(`  ${ms.toFixed(2).padStart(8)} ms  ${op}`)
    report[`${name} by op`] = spent
  }
  card.close()
}

if (!skipped.includes('ops')) await compareOps(Number(values.cases))
if (!skipped.includes('training')) {
  await compareTraining('gpt', 12)
  await compareTraining('llama', 12)
}
if (!skipped.includes('fused')) {
  const tiny = { layers: 2, tokens: 128, sequences: 2 }
  await compareFused('GPT with heads of 64', { ...tiny, width: 128, heads: 2 }, 4, 'engine')
  await compareFused('GPT with heads of 128', { ...tiny, width: 256, heads: 2 }, 2, 'engine')
  await compareFused('Llama with heads of 64', { ...tiny, width: 128, heads: 2, family: 'llama' }, 4, 'engine')
  await compareFused('small GPT', SHAPES.small, 2, 'steps')
}
if (values.shards) {
  const shards = Number(values.shards)
  const tiny = { layers: 2, tokens: 128, sequences: 2 * shards }
  await compareShards('a GPT with heads of 64', { ...tiny, width: 128, heads: 2 }, 4, shards, true)
  await compareShards('a Llama with heads of 64', { ...tiny, width: 128, heads: 2, family: 'llama' }, 4, shards, true)
  await compareShards('small GPT', SHAPES.small, 2, shards, false)
}
if (!skipped.includes('patches')) await comparePatches('an 85M GPT', { ...SHAPES.small, sequences: 2 }, 1000)
if (!skipped.includes('largePatches')) await comparePatches('a 1.2B GPT', SHAPES.large, 1000)
if (!skipped.includes('speed'))
  for (const name of values.models.split(',') as (keyof typeof SHAPES)[]) await measure(name, !values.steps)
if (!skipped.includes('hashes')) {
  await measureHashes('large', SHAPES.large)
  if (!skipped.includes('half')) await measureHashes('half of large', { ...SHAPES.large, layers: 12, sequences: 64 })
}
if (values.out) writeFileSync(values.out, `${JSON.stringify(report, null, 2)}\n`)
if (differences > 0) process.exitCode = 1
