// Inference of exact work on an NVIDIA card: every bit against WebAssembly and against single steps, then the speed of a
// 7B-shaped Llama whose weights are made on the card.
//   node inference.js [--skip bits,real,speed] [--prompt 2048] [--profile] [--lanes] [--out FILE]
// --lanes: weights of a token come as on cards before sm_90.
// Packed by bench/gpu/pack.mjs. Ends with 1 where a bit differs.
import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { toHex } from '../../src/core/bytes/hex.ts'
import { drawPatches } from '../../src/core/work/draws.ts'
import { EngineRun } from '../../src/core/work/engineRun.ts'
import { type InferenceParameters, inference } from '../../src/core/work/kinds/inference/inference.ts'
import { modelTensors } from '../../src/core/work/kinds/inference/weights.ts'
import type { Place } from '../../src/core/work/op.ts'
import { bitsOf } from '../../src/core/work/ops/shapes.ts'
import { operationsOf, shapeProgram } from '../../src/core/work/program.ts'
import { tensorBytes } from '../../src/core/work/tensor.ts'
import { segmentPrograms } from '../../src/core/work/work.ts'
import { engineOnOwned, hasherOn } from '../../src/core/work/workEngine.ts'
import { createWorkKernels, NONE, type WorkKernels } from '../../src/core/work/workKernels.ts'
import { EXACT_OPS } from '../../src/core/work/workOps.ts'
import { openCublasLt } from '../../src/drivers/gpu/cuda/cublasLt.ts'
import { loadLibcuda } from '../../src/drivers/gpu/cuda/loadLibcuda.ts'
import { WorkCard } from '../../src/drivers/gpu/cuda/work/card.ts'
import { CardRun } from '../../src/drivers/gpu/cuda/work/cardRun.ts'
import { fusedFiles } from '../../src/drivers/gpu/cuda/work/openCudaWork.ts'
import { planProgram } from '../../src/drivers/gpu/cuda/work/plan.ts'
import { moved, type Plan, ratesOf, reachOf } from '../../src/drivers/gpu/cuda/work/series.ts'
import { kernelPath } from '../../src/drivers/system/kernelFiles.ts'
import { tinyInference } from '../../test/support/tinyInference.ts'

const { values } = parseArgs({
  options: {
    skip: { type: 'string', default: '' },
    prompt: { type: 'string', default: '2048' },
    profile: { type: 'boolean', default: false },
    lanes: { type: 'boolean', default: false },
    out: { type: 'string' },
  },
})
const skipped = values.skip.split(',')
const api = loadLibcuda()
const wasmBytes = readFileSync(kernelPath('work.wasm'))
const openEngine = async () => engineOnOwned(await createWorkKernels(wasmBytes))
const read = (name: string) => readFileSync(kernelPath(name), 'utf8')
const openCard = (isFused = true) => {
  const context = api.openContext(0, 'own')
  const fusedPtx = isFused ? fusedFiles(values.lanes ? 8 : 9).map(read) : null
  return new WorkCard({ api, context, library: openCublasLt(), ptx: read('work.ptx'), fieldPtx: '', fusedPtx })
}
const report: Record<string, unknown> = { card: api.deviceName(0) }
const say = (line: string) => console.log(line)
let differences = 0
const plainly = (value: unknown): string => JSON.stringify(value, (_, x) => (x instanceof Uint8Array ? toHex(x) : x))

const epsilon = bitsOf(1e-5)
const small = { layers: 2, vocabulary: 60, context: 96, epsilon }
const gpt = { ...small, family: 'gpt', rotaryBase: 0, hasQkvBias: true } as const
const llama = { ...small, family: 'llama', rotaryBase: bitsOf(10_000), hasQkvBias: false } as const
const SHAPES = {
  'heads of 8': { ...llama, width: 16, heads: 4, keyHeads: 2, headSize: 8, hidden: 40 },
  'GPT, heads of 16': { ...gpt, width: 64, heads: 4, keyHeads: 4, headSize: 16, hidden: 256 },
  'GPT, heads of 32': { ...gpt, width: 128, heads: 4, keyHeads: 4, headSize: 32, hidden: 512 },
  'Llama, heads of 64': { ...llama, width: 256, heads: 4, keyHeads: 4, headSize: 64, hidden: 704 },
  'Qwen2, heads of 64, two to a key': {
    ...{ ...llama, width: 256, heads: 4, keyHeads: 2, headSize: 64, hidden: 416, hasQkvBias: true },
  },
  'Llama, heads of 128': { ...llama, width: 256, heads: 2, keyHeads: 1, headSize: 128, hidden: 688 },
} as const satisfies Record<string, InferenceParameters['model']>

/** Prompts of these lengths on both: every mark, a trace and patches of the last segment. */
async function compare(
  card: WorkCard,
  name: keyof typeof SHAPES,
  lengths: readonly number[],
  total: number,
): Promise<void> {
  const hasher = hasherOn(await openEngine())
  const prompts = lengths.map((length, row) => Array.from({ length }, (_, i) => (i * i * 7 + 13 * row + i) % 60))
  const sampling = total % 2 === 0 ? null : { factor: bitsOf(1.25), key: null }
  const vector = { model: SHAPES[name], prompts, total, sampling, seed: '07'.repeat(32) }
  const { work, given } = tinyInference(vector, hasher, { interval: 2, shown: 1 })
  const cpu = new EngineRun<WorkKernels>(await openEngine(), work, given, hasher)
  const run = await CardRun.start(card, work, given)
  const equal: boolean[] = []
  for (const segment of [-1, ...work.ends.keys()]) {
    if (segment === work.ends.length - 1) {
      cpu.keep(segment - 1)
      await run.keep(segment - 1)
    }
    equal.push(plainly(cpu.advance(segment)) === plainly(await run.advance(segment)))
  }
  const last = work.ends.length - 1
  const isTraced = plainly(cpu.trace(last)) === plainly(await run.trace(last))
  const draws = drawPatches(EXACT_OPS, segmentPrograms(work, last), new Uint8Array(32).fill(9))
  const areOpened = plainly(cpu.open(last, draws)) === plainly(await run.open(last, draws))
  card.memory.clear()
  const isSame = equal.every(Boolean) && isTraced && areOpened
  if (!isSame) differences++
  say(
    `${name}, prompts of ${lengths.join()}, to ${total}: ${equal.filter(Boolean).length} of ${equal.length} marks, trace ${isTraced}, patches ${areOpened}`,
  )
  report[`bits ${name} ${lengths.join()} ${total}`] = isSame
}

const SEVEN = {
  ...{ family: 'llama', layers: 32, width: 4096, heads: 32, keyHeads: 32, headSize: 128, hidden: 11_008 },
  ...{ vocabulary: 32_000, context: 4096, rotaryBase: bitsOf(10_000), hasQkvBias: false, epsilon },
} as const satisfies InferenceParameters['model']

/** Weights as a seed has them, made and quantised where they stay. */
function makeWeights({ kernels, memory }: WorkCard, said: InferenceParameters): void {
  for (const [at, [name, shape]] of [...modelTensors(said.model)].entries()) {
    if (name.endsWith('.scales')) continue
    const place = memory.make(name, shape)
    const count = shape.rows * shape.width
    if (name.endsWith('.gain')) kernels.fill(place.at, count, bitsOf(1))
    else if (shape.type === 'f32') kernels.normal(place.at, count, 0.02, 0, 1, 2, at, 0, 0)
    else {
      const floats = memory.make('floats', { ...shape, type: 'f32' })
      const scales = memory.make(name.replace('.weight', '.scales'), { type: 'f32', rows: 1, width: shape.rows })
      kernels.normal(floats.at, count, 0.02, 0, 1, 2, at, 0, 0)
      kernels.rowScale(floats.at, NONE, scales.at, shape.rows, shape.width, shape.width, 0, shape.rows)
      kernels.quantise(floats.at, NONE, scales.at, place.at, shape.rows, shape.width, shape.width, 0, shape.rows)
      memory.free('floats')
    }
  }
}

/** A 7B-shaped work on a card, transition by transition, without commitments. */
class Seven {
  readonly card: WorkCard
  readonly said: InferenceParameters
  readonly #states: ReadonlySet<string>
  readonly #isFused: boolean

  constructor(prompt: number, tokens: number, isFused: boolean) {
    this.#isFused = isFused
    this.card = openCard()
    this.said = inference.parameters.parse({
      ...{ model: SEVEN, lengths: [prompt], total: prompt + tokens, shown: 1, sampling: null },
    })
    const state = inference.state(this.said)
    this.#states = new Set(state.keys())
    const { card } = this
    const fault = card.write('fault', { type: 'u32', rows: 1, width: 1 }, new Uint8Array(4))
    card.faultsAt(BigInt(fault.at))
    makeWeights(card, this.said)
    for (const [name, shape] of state) card.kernels.fill(card.memory.make(name, shape).at, tensorBytes(shape) / 4, 0)
    const cells = Uint32Array.from({ length: prompt + tokens }, (_, i) => (i * 7919 + (i >> 3)) % 32_000)
    card.memory.free('tokens')
    card.write('tokens', state.get('tokens')!, new Uint8Array(cells.buffer))
  }

  plan(transition: number): Plan {
    const turn = { transition, isCommitted: false, seed: new Uint8Array(32) }
    const program = shapeProgram(EXACT_OPS, inference.transition(this.said, turn))
    return { program, actions: planProgram(program, this.#isFused, this.#states), rates: null, shift: 0 }
  }

  queue({ program, actions, rates, shift }: Plan, onAction: (before: boolean, at: number) => void = () => {}): void {
    const { card } = this
    const { memory } = card
    for (const [i, { nodes, fused, outputs, free }] of actions.entries()) {
      if (!fused && nodes[0]!.op === 'reshape') {
        memory.share(outputs[0]!, nodes[0]!.inputs[0]!, program.shapes.get(outputs[0]!)!)
        for (const name of free) memory.free(name)
        onAction(true, i)
        onAction(false, i)
        continue
      }
      for (const [from, to] of fused?.reuses ?? []) memory.rename(from, to)
      const places = outputs.map((name) => memory.make(name, program.shapes.get(name)!))
      onAction(true, i)
      if (fused) card.fused(fused, shift)
      else {
        const { at, op, inputs, shaped } = nodes[0]!
        const numbers = rates ? moved(nodes[0]!.numbers, rates[at]!, shift) : nodes[0]!.numbers
        card.step(EXACT_OPS, op, shaped, { inputs: inputs.map((name) => memory.place(name)), outputs: places, numbers })
      }
      onAction(false, i)
      for (const name of free) memory.free(name)
    }
    const names = [...this.#states]
    for (const name of program.statistics) memory.free(name)
    for (const name of names) if (memory.has(name) && !program.after.includes(name)) memory.free(name)
    for (const [i, name] of program.after.entries()) if (name !== names[i]) memory.rename(name, names[i]!)
  }

  async roots(): Promise<string> {
    const { card } = this
    const places: Place[] = [...this.#states].map((name) => card.memory.place(name))
    const there = card.memory.make('roots', { type: 'u8', rows: places.length, width: 32 })
    card.roots(places, there.at)
    const bytes = await card.readWhole(there)
    card.memory.free('roots')
    return toHex(bytes)
  }

  /** Milliseconds of each kind of action, between events. */
  async profile(planned: Plan): Promise<Record<string, number>> {
    const events = planned.actions.map(() => [api.createEvent(), api.createEvent()] as const)
    this.queue(planned, (before, at) => api.recordEvent(events[at]![before ? 0 : 1], this.card.stream))
    await this.card.settle()
    const spent: Record<string, number> = {}
    for (const [at, { nodes }] of planned.actions.entries()) {
      const ops = nodes.map(({ op }) => op)
      const key = ops.length > 8 ? `${ops.slice(0, 5).join(' + ')} … ${ops.length} steps` : ops.join(' + ')
      spent[key] = (spent[key] ?? 0) + api.elapsedMs(...events[at]!)
    }
    return Object.fromEntries(Object.entries(spent).sort((a, b) => b[1] - a[1]))
  }
}

/** Fused against single steps, both on the card, at real size: the root of every tensor of the state. */
async function compareReal(): Promise<void> {
  const found: string[][] = []
  for (const isFused of [true, false]) {
    const seven = new Seven(192, 8, isFused)
    const roots: string[] = []
    for (let transition = 1; transition <= 4; transition++) {
      seven.queue(seven.plan(transition))
      roots.push(await seven.roots())
    }
    found.push(roots)
    seven.card.close()
  }
  const isSame = found[0]!.every((root, i) => root === found[1]![i])
  if (!isSame) differences++
  say(`7B, prompt of 192 and 3 tokens, fused against single steps: ${isSame ? 'every root equal' : 'DIFFERS'}`)
  report['bits 7B'] = isSame
}

async function seconds(card: WorkCard, times: number, call: () => void): Promise<number> {
  call()
  await card.settle()
  const from = performance.now()
  for (let i = 0; i < times; i++) call()
  await card.settle()
  return (performance.now() - from) / 1000 / times
}

/** Operations a second of one product, hot; bytes a second of a copy, read and written. */
async function bare(card: WorkCard): Promise<{ readonly product: number; readonly copy: number }> {
  const n = 8192
  const made = ['a', 'b'].map((name) => card.memory.make(name, { type: 'i8', rows: n, width: n }))
  const floats = card.memory.make('floats', { type: 'f32', rows: n, width: n })
  const scales = card.memory.make('scales', { type: 'f32', rows: n, width: 1 })
  for (const [at, place] of made.entries()) {
    card.kernels.normal(floats.at, n * n, 1, 0, 1, 2, at, 0, 0)
    card.kernels.rowScale(floats.at, NONE, scales.at, n, n, n, 0, n)
    card.kernels.quantise(floats.at, NONE, scales.at, place.at, n, n, n, 0, n)
  }
  const product = await seconds(card, 40, () =>
    card.kernels.product(made[0]!.at, made[1]!.at, floats.at, n, n, n, 1, 1, 0, 0),
  )
  const bytes = 2 ** 31
  const [from, to] = ['from', 'to'].map((name) => card.memory.make(name, { type: 'u8', rows: 1, width: bytes }))
  const copy = await seconds(card, 20, () => api.copyAsync(BigInt(to!.at), BigInt(from!.at), bytes, card.stream))
  for (const name of ['a', 'b', 'floats', 'scales', 'from', 'to']) card.memory.free(name)
  return { product: (2 * n ** 3) / product, copy: (2 * bytes) / copy }
}

const TOKENS = 40

async function measure(prompt: number): Promise<void> {
  const seven = new Seven(prompt, TOKENS, true)
  const { card } = seven
  const { product, copy } = await bare(card)
  const planned = seven.plan(1)
  seven.queue(planned)
  const prefill = await seconds(card, 3, () => seven.queue(planned))
  const operations = operationsOf(EXACT_OPS, planned.program)
  const share = operations / prefill / product
  say(
    `prefill of ${prompt}: ${(1000 * prefill).toFixed(2)} ms, ${(operations / prefill / 1e12).toFixed(0)} T/s, ${(100 * share).toFixed(1)} % of the bare product (${(product / 1e12).toFixed(0)} T/s)`,
  )
  const planningFrom = performance.now()
  const [first, second] = [seven.plan(2), seven.plan(3)]
  const planning = (performance.now() - planningFrom) / 2000
  const rates = ratesOf(first.program, second.program)
  if (!rates || reachOf(first, second.program, rates) < TOKENS) throw new Error('tokens are not planned once for all')
  const tokens = Array.from({ length: TOKENS - 2 }, (_, shift): Plan => ({ ...first, rates, shift }))
  for (const token of tokens.slice(0, 6)) seven.queue(token)
  await card.settle()
  const timed = tokens.slice(6)
  const from = performance.now()
  for (const token of timed) seven.queue(token)
  const queued = (performance.now() - from) / 1000 / timed.length
  await card.settle()
  const decode = (performance.now() - from) / 1000 / timed.length
  const weights = [...modelTensors(SEVEN)].filter(([name]) => name !== 'embed')
  const weightBytes = weights.reduce((sum, [, shape]) => sum + tensorBytes(shape), 0)
  const seen = prompt + 6 + timed.length / 2
  const cacheBytes = 2 * SEVEN.layers * SEVEN.keyHeads * seen * (SEVEN.headSize + 4)
  const bandwidth = (weightBytes + cacheBytes) / decode
  say(
    `decode at ${prompt}: ${(1000 * decode).toFixed(3)} ms a token, ${(bandwidth / 1e12).toFixed(2)} TB/s, ${((100 * bandwidth) / copy).toFixed(1)} % of a copy (${(copy / 1e12).toFixed(2)} TB/s); queued in ${(1000 * queued).toFixed(2)} ms, planned once in ${(1000 * planning).toFixed(1)} ms`,
  )
  report[`speed ${prompt}`] = {
    ...{ prefillSeconds: prefill, operations, bareProduct: product, prefillShare: share },
    ...{ decodeSeconds: decode, weightBytes, cacheBytes, copy, decodeShare: bandwidth / copy, queued, planning },
  }
  if (values.profile)
    for (const [name, what] of [
      ['prefill', planned],
      ['decode', tokens.at(-1)!],
    ] as const) {
      const spent = await seven.profile(what)
      say(`  ${name}:`)
      for (const [op, ms] of Object.entries(spent).slice(0, 14)) say(`  ${ms.toFixed(3).padStart(8)} ms  ${op}`)
      report[`${name} by op, ${prompt}`] = spent
    }
  card.close()
}

if (!skipped.includes('bits')) {
  const card = openCard()
  for (const name of Object.keys(SHAPES) as (keyof typeof SHAPES)[]) {
    await compare(card, name, [9], 16)
    await compare(card, name, [40, 35, 33], 45)
    await compare(card, name, [70, 66, 66, 65, 64], 72)
  }
  card.close()
}
if (!skipped.includes('real')) await compareReal()
if (!skipped.includes('speed')) for (const prompt of values.prompt.split(',')) await measure(Number(prompt))
if (values.out) writeFileSync(values.out, `${JSON.stringify(report, null, 2)}\n`)
if (differences > 0) process.exitCode = 1
