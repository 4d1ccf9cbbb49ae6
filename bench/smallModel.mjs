#!/usr/bin/env node
// Trains the small GPT-2 of test/fixtures/small-gpt2 with the training kind, on the Markdown of installed packages, byte by
// byte, and writes it as people have models: config.json, model.safetensors (f16), tokenizer.json.
// `node bench/smallModel.mjs FOLDER [steps]`; the text itself is never written.
import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { bitsOf, floatOf } from '../dist/core/work/ops/shapes.js'
import { openWork } from '../dist/core/work/work.js'
import { hasherOn } from '../dist/core/work/workEngine.js'
import { WORK_KINDS } from '../dist/core/work/workKinds.js'
import { EXACT_OPS } from '../dist/core/work/workOps.js'
import { openCpuWork, openExactEngine } from '../dist/drivers/gpu/cpu/work/openCpuWork.js'
import { prepareWork } from '../dist/main/work/workOrder.js'
import { byteTokenizer, END_OF_TEXT, halfBits, installedText, SMALL } from './support/smallGpt2.mjs'

const [folder, steps = 1500] = [process.argv[2], Number(process.argv[3] ?? 1500)]
const { layers, width, heads, context } = SMALL
const [sequences, tokens] = [16, context]
const { training: text } = installedText()
const windows = Math.floor(text.length / (tokens + 1))
const model = {
  ...{ family: 'gpt', layers, width, heads, keyHeads: heads, headSize: width / heads, hidden: 4 * width },
  ...{ vocabulary: END_OF_TEXT + 1, context, rotaryBase: 0, hasQkvBias: true, isTied: true },
}
const rates = [
  [0, bitsOf(0)],
  [Math.ceil(steps / 20), bitsOf(0.003)],
  [steps, bitsOf(0.0002)],
]
const betas = { beta1: bitsOf(0.9), beta2: bitsOf(0.95), epsilon: bitsOf(1e-8), decay: bitsOf(0.1) }
const optimiser = { name: 'adamW', ...betas, clip: bitsOf(1), rates }
const parameters = { model, optimiser, sequences, tokens, windows, start: 'fresh' }
const data = new Uint8Array(Uint32Array.from(text.subarray(0, windows * (tokens + 1))).buffer)
const asked = { kind: 'training', parameters, transitions: steps, interval: 1 }
const prepared = prepareWork(asked, new Map([['data', data]]), hasherOn(await openExactEngine()))
const seed = createHash('sha256').update('small-gpt2').digest()
const work = openWork(WORK_KINDS, EXACT_OPS, { text: prepared.text, orderId: new Uint8Array(32), seed })
const run = await (await openCpuWork()).start(work, prepared.given)
await run.advance(-1)
for (let step = 0; step < steps; step++) {
  const { statistics } = await run.advance(step)
  if (step % 50 === 0 || step === steps - 1) console.log(`step ${step + 1}: loss ${floatOf(statistics[0]).toFixed(4)}`)
}

const read = async (name) => new Float32Array((await run.read(name)).slice().buffer)
const turned = (values, rows, columns) =>
  Float32Array.from(values, (_, at) => values[(at % rows) * columns + Math.floor(at / rows)])
const tensors = []
const keep = (name, dims, values) => tensors.push({ name, dims, values })
const keepNorm = async (name, from) => {
  keep(`${name}.weight`, [width], await read(`${from}.gain`))
  keep(`${name}.bias`, [width], await read(`${from}.shift`))
}
const joined = (parts) => Float32Array.from(parts.flatMap((part) => [...part]))
const keepMatrix = async (name, from, outputs, inputs) => {
  const weights = joined(await Promise.all(from.map((one) => read(`${one}.weight`))))
  keep(`${name}.weight`, [inputs, outputs], turned(weights, outputs, inputs))
  keep(`${name}.bias`, [outputs], joined(await Promise.all(from.map((one) => read(`${one}.bias`)))))
}
keep('wte.weight', [END_OF_TEXT + 1, width], await read('embed'))
keep('wpe.weight', [context, width], await read('positions'))
for (let i = 0; i < layers; i++) {
  const at = (name) => `layers.${i}.${name}`
  await keepNorm(`h.${i}.ln_1`, at('norm1'))
  await keepMatrix(`h.${i}.attn.c_attn`, ['q', 'k', 'v'].map(at), 3 * width, width)
  await keepMatrix(`h.${i}.attn.c_proj`, [at('o')], width, width)
  await keepNorm(`h.${i}.ln_2`, at('norm2'))
  await keepMatrix(`h.${i}.mlp.c_fc`, [at('up')], 4 * width, width)
  await keepMatrix(`h.${i}.mlp.c_proj`, [at('down')], width, 4 * width)
}
await keepNorm('ln_f', 'final')

mkdirSync(folder, { recursive: true })
let at = 0
const header = Object.fromEntries(
  tensors.map(({ name, dims, values }) => {
    const from = at
    at += 2 * values.length
    return [name, { dtype: 'F16', shape: dims, data_offsets: [from, at] }]
  }),
)
const json = Buffer.from(JSON.stringify(header))
const padded = Buffer.alloc(Math.ceil((8 + json.length) / 64) * 64 - 8, ' ')
json.copy(padded)
const length = Buffer.alloc(8)
length.writeBigUInt64LE(BigInt(padded.length))
const bodies = tensors.map(({ values }) => Buffer.from(Uint16Array.from(values, halfBits).buffer))
writeFileSync(join(folder, 'model.safetensors'), Buffer.concat([length, padded, ...bodies]))
const config = {
  ...{ model_type: 'gpt2', architectures: ['GPT2LMHeadModel'], n_layer: layers, n_embd: width, n_head: heads },
  ...{ n_positions: context, n_inner: null, vocab_size: END_OF_TEXT + 1, layer_norm_epsilon: 1e-5 },
  ...{ activation_function: 'gelu_new', tie_word_embeddings: true, eos_token_id: END_OF_TEXT, torch_dtype: 'float16' },
}
writeFileSync(join(folder, 'config.json'), `${JSON.stringify(config, null, 2)}\n`)
writeFileSync(join(folder, 'tokenizer.json'), `${JSON.stringify(byteTokenizer())}\n`)
