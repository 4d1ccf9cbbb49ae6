// Products proven by sumcheck on the first NVIDIA card of this machine: proofs against those of the processor, then speed.
//   node sumcheck.js [--cases 100] [--sides 16384,32768] [--times 5] [--out FILE]
// Packed by bench/gpu/pack.mjs. Ends with 1 where a proof differs or is refused.
import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { serveWork } from '../../src/apps/work/serveWork.ts'
import { watchProduct } from '../../src/apps/work/watchWork.ts'
import { toHex } from '../../src/core/bytes/hex.ts'
import { productOf } from '../../src/core/work/methods/sumcheck/productReceipt.ts'
import {
  checkHashedSumcheck,
  checkSumcheck,
  proveGathered,
  proveSumcheck,
} from '../../src/core/work/methods/sumcheck/sumcheck.ts'
import { patchRunner } from '../../src/core/work/runPatch.ts'
import { hasherOn } from '../../src/core/work/workEngine.ts'
import { EXACT_OPS } from '../../src/core/work/workOps.ts'
import { openExactEngine, openFieldEngine } from '../../src/drivers/gpu/cpu/work/openCpuWork.ts'
import { openCublasLt } from '../../src/drivers/gpu/cuda/cublasLt.ts'
import { loadLibcuda } from '../../src/drivers/gpu/cuda/loadLibcuda.ts'
import { WorkCard } from '../../src/drivers/gpu/cuda/work/card.ts'
import { CardRun } from '../../src/drivers/gpu/cuda/work/cardRun.ts'
import { openCudaWork } from '../../src/drivers/gpu/cuda/work/openCudaWork.ts'
import { chooseKernels } from '../../src/drivers/system/chooseKernels.ts'
import { kernelPath } from '../../src/drivers/system/kernelFiles.ts'
import { systemClock } from '../../src/drivers/system/systemClock.ts'
import { systemRandomness } from '../../src/drivers/system/systemRandomness.ts'
import type { Tensors } from '../../src/ports/workDevice.ts'
import { openInProcessBox } from '../../test/support/inProcessBox.ts'
import { chanceProduct, type ReadyWork, readyWork } from '../../test/support/smallWorks.ts'
import { testSigner } from '../../test/support/testSigner.ts'
import { chanceFrom } from '../../test/support/workTrials.ts'

const { values } = parseArgs({
  options: {
    cases: { type: 'string', default: '100' },
    sides: { type: 'string', default: '16384,32768' },
    times: { type: 'string', default: '5' },
    out: { type: 'string' },
  },
})
const times = Number(values.times)
const api = loadLibcuda()
const read = (name: string) => readFileSync(kernelPath(name), 'utf8')
const openCard = () => {
  const context = api.openContext(0, 'own')
  const ptx = { ptx: read('work.ptx'), fieldPtx: read('workField.ptx'), fusedPtx: null }
  return new WorkCard({ api, context, library: openCublasLt(), ...ptx })
}
const field = await openFieldEngine()
const hasher = hasherOn(await openExactEngine())
const figures: Record<string, unknown> = {}
let wrong = 0

const operandsOf = ({ given }: ReadyWork) => ({ a: given.get('a')!, b: given.get('b')! })

/** From the first product to the proof, every block of C hashed. */
async function prove({ work }: ReadyWork, run: CardRun) {
  const roots: Uint8Array[] = []
  for (const segment of work.ends.keys()) roots.push((await run.advance(segment)).root)
  const product = productOf(work, roots)!
  const made = performance.now()
  let gathered = made
  const proof = await proveGathered(field, product, async (name, point) => {
    const vector = await run.gather(name, point)
    gathered = performance.now()
    return vector
  })
  return { product, proof, gatherMs: gathered - made, roundsMs: performance.now() - gathered }
}

/** Random shapes: the proof of the card is that of the processor. */
async function compare(cases: number): Promise<void> {
  const card = openCard()
  let differ = 0
  for (let seed = 0; seed < cases; seed++) {
    const ready = chanceProduct(chanceFrom(seed), hasher)
    const { product, proof } = await prove(ready, await CardRun.start(card, ready.work, ready.given))
    if (toHex(proof) !== toHex(proveSumcheck(field, product, operandsOf(ready)))) differ++
  }
  card.close()
  wrong += differ
  figures.shapes = { cases, differ }
  console.log(`${cases} random shapes: ${differ} proofs differ from those of the processor`)
}

/** The whole way of `work run matmul --method sumcheck`, with the card on the other side of the wire. */
async function overTheWire(): Promise<void> {
  const ready = chanceProduct(chanceFrom(1_000_003), hasher)
  const box = openInProcessBox(async ({ input, write }) => {
    const device = openCudaWork({ ordinals: [0] })[0]!
    const openField = async () => field
    const engines = { openField, openExact: openExactEngine }
    await serveWork({ device, signer: testSigner(7), randomness: systemRandomness, ...engines, input, write })
    await device.close()
  })
  const signal = new AbortController().signal
  const c: Uint8Array[] = []
  const onState = (_: number, state: Tensors) => void c.push(state.get('c')!)
  const runPatch = patchRunner(await openExactEngine(), EXACT_OPS)
  const ours = { clock: systemClock, randomness: systemRandomness, hasher, runPatch, segmentMs: 60_000 }
  const watch = { ...ready, ...ours, every: 1, onStep: () => {}, onState, prover: await box.start(signal) }
  const { marks, proof, device } = await watchProduct(watch, signal)
  const roots = marks.map(({ root }) => root)
  const problem = checkSumcheck(field, hasher, productOf(ready.work, roots)!, { ...operandsOf(ready), c }, proof)
  await box.close()
  if (problem) wrong++
  console.log(`over the wire, on ${device}: ${problem ?? 'accepted'}`)
}

/** Random bytes without -128; what repeats lies 64 MiB apart. */
function operand(side: number, seed: number): Uint8Array {
  const bytes = new Uint8Array(side * side)
  const first = bytes.subarray(0, 2 ** 26)
  const random = systemRandomness.bytes(2 ** 16)
  for (let i = 0; i < first.length; i++) {
    const value = (random[(i * 7919 + (i >> 16) * seed) & 0xffff]! + (i >> 8)) & 255
    first[i] = value === 128 ? 1 : value
  }
  for (let at = first.length; at < bytes.length; at += first.length) bytes.set(first.subarray(0, bytes.length - at), at)
  return bytes
}

const middle = (all: readonly number[]): number => all.toSorted((a, b) => a - b)[all.length >> 1]!

/** The middle of several times, in milliseconds, after one that is not counted. */
async function timed(job: () => Promise<unknown>): Promise<number> {
  const found: number[] = []
  for (let i = 0; i <= times; i++) {
    const from = performance.now()
    await job()
    if (i > 0) found.push(performance.now() - from)
  }
  return middle(found)
}

/** The product alone, all of C at once and in the blocks that are hashed. */
async function bareProduct(card: WorkCard, side: number, block: number): Promise<number> {
  const [a, b] = [card.memory.place('a').at, card.memory.place('b').at]
  const c = card.memory.make('bare', { type: 'i32', rows: block, width: side }).at
  const ms = await timed(async () => {
    for (let row = 0; row < side; row += block)
      card.kernels.product(a + row * side, b, c, block, side, side, 1, 1, 0, 0)
    await card.settle()
  })
  card.memory.free('bare')
  return ms
}

/** Roots of tensors that lie on the card. */
async function hashes(card: WorkCard, names: readonly string[], again: number): Promise<number> {
  const to = card.memory.make('roots', { type: 'u8', rows: names.length, width: 32 }).at
  const places = names.map((name) => card.memory.place(name))
  const ms = await timed(async () => {
    for (let i = 0; i < again; i++) card.roots(places, to)
    await card.settle()
  })
  card.memory.free('roots')
  return ms
}

async function measure(side: number): Promise<void> {
  const block = 4096
  const given = new Map([
    ['a', operand(side, 3)],
    ['b', operand(side, 5)],
  ])
  const parameters = { rows: side, columns: side, k: side, block }
  const ready = readyWork({ kind: 'matmul', parameters, transitions: side / block, interval: 1 }, given, hasher)
  const card = openCard()
  const run = await CardRun.start(card, ready.work, given)
  const [whole, inBlocks] = [await bareProduct(card, side, side), await bareProduct(card, side, block)]
  const parts: { readonly gatherMs: number; readonly roundsMs: number }[] = []
  let last: Awaited<ReturnType<typeof prove>> | null = null
  const proven = await timed(async () => {
    last = await prove(ready, run)
    parts.push(last)
  })
  const { product, proof } = last!
  const rootsAsMade = card.rootsAsMade.bind(card)
  card.rootsAsMade = (names, to) => rootsAsMade(names, to, true)
  const beside = await timed(() => prove(ready, run))
  card.rootsAsMade = rootsAsMade
  const hashC = await hashes(card, ['c'], side / block)
  const hashOperands = await hashes(card, ['a', 'b'], 1)
  const cpu = proveSumcheck(field, product, operandsOf(ready))
  const isSame = toHex(cpu) === toHex(proof)
  if (!isSame) wrong++
  const problem = side > 16384 ? 'not checked here' : await checked(ready, run, product, proof)
  const bare = Math.min(whole, inBlocks)
  const round = (x: number) => Number(x.toPrecision(4))
  const row = {
    ...{ 'product, ms': round(whole), 'product in blocks, ms': round(inBlocks) },
    'T operations a second': round((2 * side ** 3) / bare / 1e9),
    'product, hash of C and proof, ms': round(proven),
    'the same with C hashed beside the product, ms': round(beside),
    'hash of C alone, ms': round(hashC),
    'hash of A and B alone, ms': round(hashOperands),
    'A and B met, ms': round(middle(parts.map(({ gatherMs }) => gatherMs))),
    'rounds, ms': round(middle(parts.map(({ roundsMs }) => roundsMs))),
    'prover / product': round(proven / bare),
    'with hash of A and B too': round((proven + hashOperands) / bare),
    'proof, bytes': proof.length,
    'the processor makes the same': isSame,
    check: problem,
  }
  figures[`${side}^3`] = row
  console.log(side, row)
  card.close()
}

/** By the processor, with C block by block. */
async function checked(
  ready: ReadyWork,
  run: CardRun,
  product: NonNullable<ReturnType<typeof productOf>>,
  proof: Uint8Array,
): Promise<string> {
  const c: Uint8Array[] = []
  for (const segment of ready.work.ends.keys()) {
    await run.advance(segment)
    c.push(await run.read('c'))
  }
  const problem = checkHashedSumcheck(field, product, { ...operandsOf(ready), c }, proof)
  if (problem) wrong++
  return problem ?? 'accepted'
}

await compare(Number(values.cases))
await overTheWire()
for (const side of values.sides.split(',').filter(Boolean)) await measure(Number(side))
const command = `node sumcheck.js --cases ${values.cases} --sides ${values.sides} --times ${times}`
const kernels = (await chooseKernels())?.name ?? 'WebAssembly'
if (values.out)
  writeFileSync(values.out, `${JSON.stringify({ command, card: api.deviceName(0), kernels, figures }, null, 2)}\n`)
if (wrong > 0) process.exitCode = 1
