#!/usr/bin/env node
// What a transition of training is made of, for whoever wants to prove its products (docs/adr/0021-training-step-by-sumcheck.md):
// multiply-adds, and entries of operands, results and everything else. `node bench/trainingProducts.mjs [width] [layers]`.
import { readFileSync } from 'node:fs'
import { openWork } from '../dist/core/work/work.js'
import { hasherOn } from '../dist/core/work/workEngine.js'
import { WORK_KINDS } from '../dist/core/work/workKinds.js'
import { EXACT_OPS } from '../dist/core/work/workOps.js'
import { openExactEngine } from '../dist/drivers/gpu/cpu/work/openCpuWork.js'
import { trainWork } from '../dist/main/work/trainWork.js'
import { keepResult } from './support/keepResult.mjs'

const [width = 320, layers = 8] = process.argv.slice(2).map(Number)
const text = readFileSync(new URL('../package-lock.json', import.meta.url))
const shape = { family: 'gpt', layers, width, heads: 5, tokens: 128, sequences: 8, steps: 5, rate: 0.001 }
const { text: spec } = trainWork(text, shape, hasherOn(await openExactEngine()))
const work = openWork(WORK_KINDS, EXACT_OPS, { text: spec, orderId: new Uint8Array(32), seed: new Uint8Array(32) })
const program = work.transition(1)
const size = ({ rows, width }) => rows * width
const count = { products: 0, multiplyAdds: 0, results: 0, others: 0, steps: program.steps.length }
const operands = new Map()
for (const [i, { op, inputs }] of program.steps.entries()) {
  const step = program.shaped[i]
  const made = step.outputs.reduce((sum, output) => sum + size(output), 0)
  if (!op.startsWith('product')) {
    count.others += made
    continue
  }
  count.products++
  count.multiplyAdds += EXACT_OPS[op].operations(step) / 2
  count.results += made
  for (const [at, shape] of step.inputs.entries()) if (shape.type === 'i8') operands.set(inputs[at], size(shape))
}
const entries = [...operands.values()].reduce((sum, each) => sum + each, 0)
const figures = { ...count, operands: operands.size, operandEntries: entries }
console.table(figures)
keepResult('trainingProducts', `node bench/trainingProducts.mjs ${width} ${layers}`, figures)
