#!/usr/bin/env node
// Perplexity of the small trained model over text that it never saw: exact int8 by the steps of a work, and binary32 by
// bench/support/gpt2Float32.py (NumPy). `node bench/inferencePerplexity.mjs [windows] [folder]`
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { cacheTensors } from '../dist/core/work/kinds/inference/cache.js'
import { InferencePass } from '../dist/core/work/kinds/inference/pass.js'
import { modelTensors } from '../dist/core/work/kinds/inference/weights.js'
import { shapeProgram } from '../dist/core/work/program.js'
import { ProgramBuilder } from '../dist/core/work/programBuilder.js'
import { tensorBytes } from '../dist/core/work/tensor.js'
import { runProgram, TensorMemory } from '../dist/core/work/tensorMemory.js'
import { EXACT_OPS } from '../dist/core/work/workOps.js'
import { openExactEngine } from '../dist/drivers/gpu/cpu/work/openCpuWork.js'
import { readModel } from '../dist/drivers/model/readModel.js'
import { keepResult } from './support/keepResult.mjs'
import { installedText } from './support/smallGpt2.mjs'

const fixture = fileURLToPath(new URL('../test/fixtures/small-gpt2', import.meta.url))
const [asked = '100', folder = fixture] = process.argv.slice(2)
const { model, tensors } = readModel(folder, await openExactEngine())
const { context } = model
const { apart } = installedText()
const width = context + 1
const windows = Math.min(Number(asked), Math.floor(apart.length / width))
const every = Math.floor(apart.length / width / windows) * width
const texts = Array.from({ length: windows }, (_, i) => apart.subarray(i * every, i * every + width))

const caches = cacheTensors(model, 1, context)

/** One window: logits of every place, and what each thought of the token that came. */
function lossProgram() {
  const p = new ProgramBuilder()
  const column = { type: 'u32', rows: context, width: 1 }
  const given = [...modelTensors(model), ...caches, ['tokens', column], ['targets', column]]
  for (const [name, shape] of given) p.there(name, shape)
  const pass = new InferencePass(p, model, { sequences: 1, tokens: context, place: 0 })
  const logits = pass.everyLogits('tokens')
  const maximum = p.step('rowMaximum', [logits])
  const sum = p.step('exponentialSum', [logits, maximum])
  return p.build([p.step('crossEntropy', [logits, maximum, sum, 'targets'])])
}

const program = shapeProgram(EXACT_OPS, lossProgram())
const memory = new TensorMemory(await openExactEngine())
for (const [name, shape] of modelTensors(model)) memory.write(name, shape, tensors.get(name))
for (const [name, shape] of caches) memory.write(name, shape, new Uint8Array(tensorBytes(shape)))
let total = 0
for (const text of texts) {
  const write = (name, from) => {
    const bytes = new Uint8Array(Uint32Array.from(text.subarray(from, from + context)).buffer)
    memory.write(name, program.shapes.get(name), bytes)
  }
  write('tokens', 0)
  write('targets', 1)
  runProgram(EXACT_OPS, memory, program)
  const [made] = program.after
  for (const loss of new Float32Array(memory.bytes(made).slice().buffer)) total += loss
  for (const name of ['tokens', 'targets', made]) memory.free(name)
}
const exactLoss = total / (windows * context)

const aside = mkdtempSync(join(tmpdir(), 'touchstone-perplexity-'))
const file = join(aside, 'tokens')
writeFileSync(file, Buffer.concat(texts.map((text) => Buffer.from(Uint16Array.from(text).buffer))))
const script = fileURLToPath(new URL('support/gpt2Float32.py', import.meta.url))
const float32 = JSON.parse(execFileSync('python3', [script, folder, file, String(width)], { encoding: 'utf8' }))
rmSync(aside, { recursive: true })
if (float32.type !== 'float32') throw new Error(`not binary32 but ${float32.type}`)
const figures = {
  tokens: windows * context,
  exactLoss,
  float32Loss: float32.loss,
  exactPerplexity: Math.exp(exactLoss),
  float32Perplexity: Math.exp(float32.loss),
  ratio: Math.exp(exactLoss - float32.loss),
}
console.log(figures)
keepResult('inferencePerplexity', 'node bench/inferencePerplexity.mjs', figures)
