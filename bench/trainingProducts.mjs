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
/** What a tensor is but for the order of its entries: a turned copy has the values of the first at turned points. */
const firsts = new Map()
const firstOf = (name) => firsts.get(name) ?? name
const none = { products: 0, multiplyAdds: 0, results: 0 }
const [wide, attention] = [{ ...none }, { ...none }]
const operands = new Map()
let others = 0
for (const [i, { op, inputs, outputs, numbers }] of program.steps.entries()) {
  const step = program.shaped[i]
  const made = step.outputs.reduce((sum, output) => sum + size(output), 0)
  if (op === 'transpose' || op === 'reshape') firsts.set(outputs[0], firstOf(inputs[0]))
  if (!op.startsWith('product')) {
    others += made
    continue
  }
  const isWide = (numbers.batch ?? 1) === 1
  const group = isWide ? wide : attention
  group.products++
  group.multiplyAdds += EXACT_OPS[op].operations(step) / 2
  group.results += made
  for (const [at, shape] of step.inputs.entries())
    if (shape.type === 'i8') operands.set(inputs[at], { entries: size(shape), isWide })
}
const entriesOf = (found) => found.reduce((sum, { entries }) => sum + entries, 0)
const once = new Map([...operands].map(([name, operand]) => [firstOf(name), operand]))
const wideOf = (found) => entriesOf([...found.values()].filter(({ isWide }) => isWide))
const figures = {
  products: wide.products + attention.products,
  multiplyAdds: wide.multiplyAdds + attention.multiplyAdds,
  results: wide.results + attention.results,
  others,
  steps: program.steps.length,
  operands: operands.size,
  operandEntries: entriesOf([...operands.values()]),
  operandsOnce: once.size,
  operandEntriesOnce: entriesOf([...once.values()]),
  wideMultiplyAdds: wide.multiplyAdds,
  wideResults: wide.results,
  wideEntriesOnce: wideOf(once),
}
console.table(figures)
keepResult('trainingProducts', `node bench/trainingProducts.mjs ${width} ${layers}`, figures)
