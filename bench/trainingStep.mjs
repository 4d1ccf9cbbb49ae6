#!/usr/bin/env node
// A transition of training whose products are proven by one sumcheck: what prover and checker cost beside the step itself, on
// one core, by processor time; step and prover take turns. Run `node scripts/build.mjs` first, then
// `node bench/trainingStep.mjs [width] [layers] [sequences] [turns]`. Results go to bench/results/trainingStep.json.
import { readFileSync } from 'node:fs'
import { planStep } from '../dist/core/work/methods/step/plan.js'
import { productsError } from '../dist/core/work/methods/step/products.js'
import { checkProducts, commitStep, proveCommittedStep } from '../dist/core/work/methods/step/stepProof.js'
import { runProgram, TensorMemory } from '../dist/core/work/tensorMemory.js'
import { openWork } from '../dist/core/work/work.js'
import { hasherOn } from '../dist/core/work/workEngine.js'
import { WORK_KINDS } from '../dist/core/work/workKinds.js'
import { EXACT_OPS } from '../dist/core/work/workOps.js'
import { openExactEngine, openProvingEngines, openStepEngine } from '../dist/drivers/gpu/cpu/work/openCpuWork.js'
import { chooseKernels } from '../dist/drivers/system/chooseKernels.js'
import { trainWork } from '../dist/main/work/trainWork.js'
import { keepResult } from './support/keepResult.mjs'

const [width = 512, layers = 3, sequences = 32, turns = 3] = process.argv.slice(2).map(Number)

function seconds(job) {
  const before = process.cpuUsage()
  const result = job()
  const { user, system } = process.cpuUsage(before)
  return [result, (user + system) / 1e6]
}

const text = readFileSync(new URL('../package-lock.json', import.meta.url))
const shape = { family: 'gpt', layers, width, heads: width / 64, tokens: 128, sequences, steps: 5, rate: 0.001 }
const { text: spec, given } = trainWork(text, shape, hasherOn(await openExactEngine()))
const work = openWork(WORK_KINDS, EXACT_OPS, { text: spec, orderId: new Uint8Array(32), seed: new Uint8Array(32) })
const program = work.transition(1)
const plan = planStep(work.ops, program)

const { exact, step: stepEngine } = await openProvingEngines()
const memory = new TensorMemory(exact)
for (const [name, bytes] of given) memory.write(name, work.given.get(name), bytes)
const begun = work.begin()
runProgram(work.ops, memory, begun)
const names = [...work.state.keys()]
for (const [i, name] of begun.after.entries()) memory.rename(name, names[i])

/** The state before stays: what came of it is put away. */
function forget() {
  for (const name of new Set([...program.after, ...program.statistics])) memory.free(name)
}

const checkEngine = await openStepEngine()

function turn() {
  const [, step] = seconds(() => runProgram(work.ops, memory, program))
  forget()
  const [committed, commit] = seconds(() => commitStep(stepEngine, work.ops, memory, plan))
  forget()
  const statement = { workId: work.workId, transition: 1, root: committed.root, more: new Uint8Array() }
  const [proof, prove] = seconds(() => proveCommittedStep(committed, statement, []))
  const [checked, check] = seconds(() => checkProducts(checkEngine, plan, statement, [], proof))
  if (typeof checked === 'string') throw new Error(`an honest proof is refused: ${checked}`)
  return { step, commit, prove, check, bytes: proof.length }
}

const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1]
const round = (x) => Number(x.toPrecision(3))
turn()
const taken = Array.from({ length: turns }, turn)
const of = (name) => median(taken.map((one) => one[name]))
const entries = plan.kept.reduce((sum, { shape: { rows, width } }) => sum + rows * width, 0)
const parameters = names
  .filter((name) => !name.includes('/'))
  .reduce((sum, name) => {
    const { rows, width } = work.state.get(name)
    return sum + rows * width
  }, 0)
const figures = {
  parameters,
  'tokens a step': sequences * 128,
  products: plan.products.length,
  'kept, entries': entries,
  'step alone, s': round(of('step')),
  'step with code and hashes, s': round(of('commit')),
  'rounds and opening, s': round(of('prove')),
  'check, s': round(of('check')),
  'prover in all / step': round((of('commit') + of('prove')) / of('step')),
  'step / check': round(of('step') / of('check')),
  'proof, bytes': of('bytes'),
  'log2 of error of the rounds': round(productsError(plan)),
}
const kernels = (await chooseKernels())?.name ?? 'WebAssembly'
console.log(kernels)
console.table(figures)
keepResult('trainingStep', `node bench/trainingStep.mjs ${width} ${layers} ${sequences} ${turns}`, { kernels, figures })
