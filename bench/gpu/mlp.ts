// What bench/gpu/repdl.py measures of RepDL, of exact work: a product, and training steps of an MLP.
//   node mlp.js [--repdl REPDL.json] [--out FILE]
// Packed by bench/gpu/pack.mjs. --repdl names what repdl.py left in the same session on the same card: ratios are said.
import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { drawDigits } from '../../src/core/work/kinds/training/digits.ts'
import { bitsOf, floatOf } from '../../src/core/work/ops/shapes.ts'
import { hasherOn } from '../../src/core/work/workEngine.ts'
import { NONE } from '../../src/core/work/workKernels.ts'
import { openExactEngine } from '../../src/drivers/gpu/cpu/work/openCpuWork.ts'
import { openCublasLt } from '../../src/drivers/gpu/cuda/cublasLt.ts'
import { loadLibcuda } from '../../src/drivers/gpu/cuda/loadLibcuda.ts'
import { WorkCard } from '../../src/drivers/gpu/cuda/work/card.ts'
import { CardRun } from '../../src/drivers/gpu/cuda/work/cardRun.ts'
import { fusedFiles } from '../../src/drivers/gpu/cuda/work/openCudaWork.ts'
import { kernelPath } from '../../src/drivers/system/kernelFiles.ts'
import { readyWork } from '../../test/support/smallWorks.ts'

const { values } = parseArgs({ options: { repdl: { type: 'string' }, out: { type: 'string' } } })
const api = loadLibcuda()
const read = (name: string) => readFileSync(kernelPath(name), 'utf8')
const hasher = hasherOn(await openExactEngine())
const openCard = () => {
  const context = api.openContext(0, 'own')
  const fusedPtx = fusedFiles(9).map(read)
  return new WorkCard({ api, context, library: openCublasLt(), ptx: read('work.ptx'), fieldPtx: '', fusedPtx })
}

interface Shape {
  readonly sizes: readonly number[]
  readonly batch: number
  readonly steps: number
}
const SHAPES: Readonly<Record<string, Shape>> = {
  digits: { sizes: [64, 128, 64, 10], batch: 64, steps: 400 },
  wide: { sizes: [4096, 8192, 8192, 8192, 1024], batch: 8192, steps: 10 },
}

/** Operations a second of a product from floats to floats: both rounded to bytes, multiplied, scaled; and of the bare one. */
async function product(card: WorkCard, n = 8192): Promise<{ readonly whole: number; readonly bare: number }> {
  const { kernels, memory } = card
  const make = (name: string, type: 'f32' | 'i8' | 'i32', rows = n) => memory.make(name, { type, rows, width: n }).at
  const [a, b, out] = [make('a', 'f32'), make('b', 'f32'), make('out', 'f32')]
  const [qa, qb, sums] = [make('qa', 'i8'), make('qb', 'i8'), make('sums', 'i32')]
  const [sa, sb] = [make('sa', 'f32', 1), make('sb', 'f32', 1)]
  for (const [at, place] of [a, b].entries()) kernels.normal(place, n * n, 1, 0, 1, 2, at, 0, 0)
  const multiply = () => kernels.product(qa, qb, sums, n, n, n, 1, 1, 0, 0)
  const whole = () => {
    for (const [x, s, q] of [
      [a, sa, qa],
      [b, sb, qb],
    ] as const) {
      kernels.rowScale(x, NONE, s, n, n, n, 0, n)
      kernels.quantise(x, NONE, s, q, n, n, n, 0, n)
    }
    multiply()
    kernels.dequantise(sums, sa, sb, NONE, out, n, n, 0, n, 1)
  }
  const rate = async (call: () => void) => {
    for (let i = 0; i < 3; i++) call()
    await card.settle()
    const from = performance.now()
    for (let i = 0; i < 30; i++) call()
    await card.settle()
    return (30 * 2 * n ** 3 * 1000) / (performance.now() - from)
  }
  const found = { whole: await rate(whole), bare: await rate(multiply) }
  memory.clear()
  return found
}

/** Seconds of a training step, over the second half of them; every state is hashed, beside the next step. */
async function step(card: WorkCard, { sizes, batch, steps }: Shape) {
  const optimiser = { name: 'sgd', momentum: bitsOf(0.9), clip: bitsOf(10), rates: [[0, bitsOf(0.02)]] }
  const model = { family: 'mlp', sizes: [...sizes] }
  const parameters = { model, optimiser, sequences: batch, tokens: 1, windows: batch, start: 'fresh' }
  const { data, labels } = sizes[0] === 64 ? drawDigits(batch, 1) : drawn(sizes, batch)
  const given = new Map([
    ['data', new Uint8Array(data.buffer)],
    ['labels', new Uint8Array(labels.buffer)],
  ])
  const asked = { kind: 'training', parameters, transitions: 2 * steps, interval: 1 }
  const { work } = readyWork(asked, given, hasher)
  const run = await CardRun.start(card, work, given)
  const losses: number[] = []
  let from = 0
  for (const segment of [-1, ...work.ends.keys()]) {
    if (segment === steps) from = performance.now()
    const { statistics } = await run.advance(segment)
    if (segment >= 0) losses.push(floatOf(statistics[0]!))
  }
  const seconds = (performance.now() - from) / 1000 / steps
  return { sizes, batch, steps, seconds, losses: [losses[0]!, losses.at(-1)!] }
}

function drawn(sizes: readonly number[], batch: number) {
  const data = Float32Array.from({ length: batch * sizes[0]! }, (_, i) => (((i * 2654435761) >>> 8) % 2048) / 1024 - 1)
  const labels = Uint32Array.from({ length: batch }, (_, i) => (i * 7919) % sizes.at(-1)!)
  return { data, labels }
}

interface Theirs {
  readonly product: Readonly<Record<string, number>>
  readonly [shape: string]: { readonly seconds?: number }
}
const theirs = values.repdl === undefined ? null : (JSON.parse(readFileSync(values.repdl, 'utf8')) as Theirs)
const card = openCard()
const report: Record<string, unknown> = { card: api.deviceName(0), repdl: theirs }
const rates = await product(card)
const best = theirs && Math.max(...Object.values(theirs.product))
report.product = { ...rates, ratio: best && { whole: rates.whole / best, bare: rates.bare / best } }
console.log(`product of 8192: ${JSON.stringify(report.product)}`)
for (const [name, shape] of Object.entries(SHAPES)) {
  const found = await step(card, shape)
  const ratio = theirs && theirs[name]!.seconds! / found.seconds
  report[name] = { ...found, ratio }
  console.log(`${name}: ${JSON.stringify(report[name])}`)
}
if (values.out) writeFileSync(values.out, `${JSON.stringify(report, null, 2)}\n`)
card.close()
