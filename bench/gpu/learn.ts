// 2,000 steps of an 85M GPT, exact, on a text of 40 MB or more; the same windows are left for bench/gpu/torchTrain.py.
//   node learn.js --text FILE --windows WINDOWS.bin --out OUT.json [--steps 2000]
// Packed by bench/gpu/pack.mjs.
import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { toHex } from '../../src/core/bytes/hex.ts'
import { sha256 } from '../../src/core/bytes/sha256.ts'
import { training } from '../../src/core/work/kinds/training/training.ts'
import { bitsOf, floatOf } from '../../src/core/work/ops/shapes.ts'
import { openWork } from '../../src/core/work/work.ts'
import { engineOnOwned, hasherOn } from '../../src/core/work/workEngine.ts'
import { createWorkKernels } from '../../src/core/work/workKernels.ts'
import { EXACT_OPS } from '../../src/core/work/workOps.ts'
import { encodeSpec } from '../../src/core/work/workSpec.ts'
import { openCudaWork } from '../../src/drivers/gpu/cuda/work/openCudaWork.ts'
import { kernelPath } from '../../src/drivers/system/kernelFiles.ts'

const { values } = parseArgs({
  options: {
    text: { type: 'string', default: '' },
    windows: { type: 'string', default: '' },
    out: { type: 'string', default: '' },
    steps: { type: 'string', default: '2000' },
  },
})
const [TOKENS, SEQUENCES, STEPS] = [1024, 8, Number(values.steps)]
const text = readFileSync(values.text)
const seed = sha256(Uint8Array.of(2))
const count = Math.floor(text.length / (TOKENS + 1))
const data = Uint32Array.from(text.subarray(0, count * (TOKENS + 1)))
const given = new Map([['data', new Uint8Array(data.buffer)]])

const floats = (of: Record<string, number>) =>
  Object.fromEntries(Object.entries(of).map(([name, value]) => [name, bitsOf(value)]))
const sizes = { layers: 12, width: 768, heads: 12, keyHeads: 12, headSize: 64, hidden: 3072, vocabulary: 256 }
const model = { family: 'gpt', ...sizes, context: TOKENS, hasQkvBias: true, isTied: false, rotaryBase: 0 }
const rates = [
  [0, 6e-6],
  [100, 6e-4],
  [2000, 6e-5],
].map(([at, rate]) => [at!, bitsOf(rate!)])
const numbers = floats({ beta1: 0.9, beta2: 0.95, epsilon: 1e-8, decay: 0.1, clip: 1 })
const parameters = {
  ...{ model, optimiser: { name: 'adamW', ...numbers, rates } },
  ...{ sequences: SEQUENCES, tokens: TOKENS, windows: count, start: 'fresh' },
}
const wasm = await createWorkKernels(readFileSync(kernelPath('work.wasm')))
const hasher = hasherOn(engineOnOwned(wasm))
const shape = training.given(training.parameters.parse(parameters)).get('data')!
const inputs = [{ name: 'data', uri: '', root: toHex(hasher.root(shape, given.get('data')!)) }]
const order = { kind: 'training', version: 1, parameters, inputs, transitions: STEPS, interval: 1 } as const
const work = openWork({ training }, EXACT_OPS, { text: encodeSpec(order), orderId: sha256(Uint8Array.of(1)), seed })

/** The windows of all steps, as W2.10.2 orders them. */
function orderedWindows(): Uint8Array {
  const taken = SEQUENCES * STEPS
  const memory = new Uint8Array(wasm.memory(4 * taken + 64))
  const [from, to] = [wasm.free, wasm.free + 32]
  memory.set(seed, from)
  wasm.kernels.windowOrder(from, to, 0, count, 0, taken)
  const which = new Uint32Array(memory.slice(to, to + 4 * taken).buffer)
  const out = new Uint8Array(taken * (TOKENS + 1))
  for (const [i, window] of which.entries())
    out.set(text.subarray(window * (TOKENS + 1), (window + 1) * (TOKENS + 1)), i * (TOKENS + 1))
  return out
}

writeFileSync(values.windows, orderedWindows())
const card = openCudaWork({ ordinals: [0] })[0]!
const run = await card.start(work, given)
await run.advance(-1)
const losses: number[] = []
const from = performance.now()
for (const segment of work.ends.keys()) {
  const mark = await run.advance(segment)
  losses.push(floatOf(mark.statistics[0]!))
  if (segment % 100 === 99) console.log(segment + 1, losses.at(-1), ((performance.now() - from) / 1000).toFixed(1))
}
const seconds = (performance.now() - from) / 1000
await card.close()
writeFileSync(values.out, JSON.stringify({ text: toHex(sha256(text)), bytes: text.length, seconds, losses }))
