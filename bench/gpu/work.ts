// Exact work on the NVIDIA cards of this machine: every op and whole trainings against WebAssembly, then speed.
//   node work.js [--cases 120] [--models small,large] [--skip ops,training,speed] [--out FILE]
// Packed by bench/gpu/pack.mjs. Ends with 1 where a bit differs.
import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { toHex } from '../../src/core/bytes/hex.ts'
import { sha256 } from '../../src/core/bytes/sha256.ts'
import { drawPatches } from '../../src/core/work/draws.ts'
import { EngineRun } from '../../src/core/work/engineRun.ts'
import { training } from '../../src/core/work/kinds/training/training.ts'
import { bitsOf, floatOf } from '../../src/core/work/ops/shapes.ts'
import { lastUses, operationsOf, type ShapedProgram } from '../../src/core/work/program.ts'
import { openWork, segmentPrograms, type Work } from '../../src/core/work/work.ts'
import { engineOnOwned, hasherOn } from '../../src/core/work/workEngine.ts'
import {
  createWorkKernels,
  WORK_ARGUMENTS,
  WORK_OPS,
  type WorkKernels,
  workKernelsFrom,
} from '../../src/core/work/workKernels.ts'
import { EXACT_OPS } from '../../src/core/work/workOps.ts'
import { encodeSpec } from '../../src/core/work/workSpec.ts'
import { openCublasLt } from '../../src/drivers/gpu/cuda/cublasLt.ts'
import { loadLibcuda } from '../../src/drivers/gpu/cuda/loadLibcuda.ts'
import { WorkCard } from '../../src/drivers/gpu/cuda/work/card.ts'
import { CardRun } from '../../src/drivers/gpu/cuda/work/cardRun.ts'
import { openCudaWork } from '../../src/drivers/gpu/cuda/work/openCudaWork.ts'
import { kernelPath } from '../../src/drivers/system/kernelFiles.ts'
import { type Family, tinyTraining } from '../../test/support/tinyTraining.ts'
import { Arena, chanceFrom, WORK_TRIALS } from '../../test/support/workTrials.ts'

const { values } = parseArgs({
  options: {
    cases: { type: 'string', default: '120' },
    models: { type: 'string', default: 'small,large' },
    skip: { type: 'string', default: '' },
    profile: { type: 'boolean', default: false },
    out: { type: 'string' },
  },
})
const skipped = values.skip.split(',')
const api = loadLibcuda()
const wasmBytes = readFileSync(kernelPath('work.wasm'))
const openEngine = async () => engineOnOwned(await createWorkKernels(wasmBytes))
const openWorkCard = () => {
  const context = api.openContext(0, 'own')
  return new WorkCard({ api, context, library: openCublasLt(), ptx: readFileSync(kernelPath('work.ptx'), 'utf8') })
}
let differences = 0
const report: Record<string, unknown> = { card: api.deviceName(0) }
const say = (line: string) => console.log(line)

const MEMORY = 2 ** 22

/** Kernels whose pointers count from where a tensor lies. */
const shifted = (kernels: WorkKernels, base: number): WorkKernels =>
  workKernelsFrom((name) => (...args) => {
    const letters = WORK_ARGUMENTS[name]
    const call = kernels[name] as (...args: readonly number[]) => number
    return call(...args.map((value, i) => (letters[i] === 'o' && value !== 0 ? value + base : value)))
  })

/** Random calls of every op on the card and in WebAssembly: answers, and every byte of the memory after it. */
async function compareOps(cases: number): Promise<void> {
  const wasm = await createWorkKernels(wasmBytes)
  const memory = new Uint8Array(wasm.memory(MEMORY))
  const card = openWorkCard()
  for (const op of WORK_OPS) {
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
  say(`ops: ${WORK_OPS.length} with ${cases} random calls each, ${differences} differ`)
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

const SHAPES = {
  small: { layers: 12, width: 768, heads: 12 },
  medium: { layers: 24, width: 1024, heads: 16 },
  large: { layers: 24, width: 2048, heads: 16 },
} as const
const TOKENS = 1024
const SEQUENCES = 16

async function bigTraining(
  name: keyof typeof SHAPES,
  card: WorkCard,
): Promise<{ work: Work<WorkKernels>; run: CardRun }> {
  const { layers, width, heads } = SHAPES[name]
  const sizes = { layers, width, heads, keyHeads: heads, headSize: width / heads, hidden: 4 * width }
  const model = { family: 'gpt', ...sizes, vocabulary: 256, context: TOKENS, hasQkvBias: true, isTied: false }
  const numbers = { beta1: 0.9, beta2: 0.95, epsilon: 1e-8, decay: 0.1, clip: 1 }
  const bits = Object.fromEntries(Object.entries(numbers).map(([key, value]) => [key, bitsOf(value)]))
  const optimiser = { name: 'adamW', ...bits, rates: [[0, bitsOf(3e-4)]] }
  const windows = 8 * SEQUENCES
  const parameters = { model, optimiser, sequences: SEQUENCES, tokens: TOKENS, windows, start: 'fresh' }
  const data = Uint32Array.from({ length: windows * (TOKENS + 1) }, (_, i) => (i * i + (i >> 5)) % 251)
  const given = new Map([['data', new Uint8Array(data.buffer)]])
  const hasher = hasherOn(await openEngine())
  const shapes = training.given(training.parameters.parse(parameters))
  const inputs = [...shapes].map(([of, shape]) => ({
    name: of,
    uri: '',
    root: toHex(hasher.root(shape, given.get(of)!)),
  }))
  const text = encodeSpec({ kind: 'training', version: 1, parameters, inputs, transitions: 8, interval: 1 })
  const order = { text, orderId: sha256(Uint8Array.of(1)), seed: sha256(Uint8Array.of(2)) }
  const work = openWork({ training }, EXACT_OPS, order)
  return { work, run: await CardRun.start(card, work, given) }
}

const seconds = (since: number): number => (performance.now() - since) / 1000

/** Milliseconds of every op of a transition, step by step between events; the state is used up. */
async function profile(card: WorkCard, program: ShapedProgram, stream: bigint): Promise<Record<string, number>> {
  const { memory } = card
  const free = lastUses(program)
  const fault = card.write('fault', { type: 'u32', rows: 1, width: 1 }, new Uint8Array(4))
  card.faultsAt(BigInt(fault.at))
  const events = program.steps.map(() => [api.createEvent(), api.createEvent()] as const)
  for (const [at, { op, inputs, outputs, numbers }] of program.steps.entries()) {
    const step = program.shaped[at]!
    const places = outputs.map((name, i) => memory.make(name, step.outputs[i]!))
    const call = { inputs: inputs.map((name) => memory.place(name)), outputs: places, numbers }
    api.recordEvent(events[at]![0], stream)
    card.step(EXACT_OPS, op, step, call)
    api.recordEvent(events[at]![1], stream)
    for (const name of free[at]!) memory.free(name)
  }
  await card.settle()
  const spent: Record<string, number> = {}
  for (const [at, { op, numbers }] of program.steps.entries()) {
    const shape = program.shaped[at]!.inputs[0]
    const isAttention = (shape?.width ?? 0) === TOKENS || numbers.batch !== undefined || op.endsWith('Heads')
    const key = `${op}${isAttention ? ' (attention)' : ''}${op === 'quantise' && numbers.key0 !== undefined ? ' by chance' : ''}`
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

async function measure(name: keyof typeof SHAPES): Promise<void> {
  const card = openWorkCard()
  const bare = await bareProduct(card, 8192)
  card.memory.clear()
  const { work, run } = await bigTraining(name, card)
  await run.advance(-1)
  const losses: number[] = []
  const times: number[] = []
  for (const segment of [0, 1, 2, 3]) {
    const from = performance.now()
    const mark = await run.advance(segment)
    times.push(seconds(from))
    losses.push(floatOf(mark.statistics[0]!))
  }
  const best = Math.min(...times.slice(1))
  const operations = operationsOf(EXACT_OPS, work.transition(1))
  const tokens = SEQUENCES * TOKENS
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
  report[name] = row
  if (values.profile) {
    const spent = await profile(card, work.transition(5), card.stream)
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
if (!skipped.includes('speed')) for (const name of values.models.split(',')) await measure(name as keyof typeof SHAPES)
if (values.out) writeFileSync(values.out, `${JSON.stringify(report, null, 2)}\n`)
if (differences > 0) process.exitCode = 1
