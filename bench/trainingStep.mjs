#!/usr/bin/env node
// A whole transition of training proven by sumcheck and openings (docs/spec/work.md, W12): what prover and checker cost beside
// the step itself, on one core, by processor time. Steps and proofs take turns along a chain of transitions. Run
// `node scripts/build.mjs` first, then `node bench/trainingStep.mjs [width] [layers] [sequences] [turns] [shared]`; `shared`:
// products that are sums over all sequences are proven, the others run again with drawn sequences. Results go to
// bench/results/trainingStep.json, or trainingStepShared.json.
import { readFileSync } from 'node:fs'
import { checkTransition } from '../dist/core/work/methods/step/checkStep.js'
import { commitTransition } from '../dist/core/work/methods/step/proveStep.js'
import { drawRest, revealsOf } from '../dist/core/work/methods/step/rest.js'
import { planRest } from '../dist/core/work/methods/step/restPlan.js'
import { stepError } from '../dist/core/work/methods/step/stepProof.js'
import { runProgram, TensorMemory } from '../dist/core/work/tensorMemory.js'
import { openWork } from '../dist/core/work/work.js'
import { hasherOn } from '../dist/core/work/workEngine.js'
import { WORK_KINDS } from '../dist/core/work/workKinds.js'
import { EXACT_OPS } from '../dist/core/work/workOps.js'
import { openExactEngine, openProvingEngines, openStepEngine } from '../dist/drivers/gpu/cpu/work/openCpuWork.js'
import { chooseKernels } from '../dist/drivers/system/chooseKernels.js'
import { systemRandomness } from '../dist/drivers/system/systemRandomness.js'
import { trainWork } from '../dist/main/work/trainWork.js'
import { keepResult } from './support/keepResult.mjs'

const isShared = process.argv.includes('shared')
const wanted = isShared ? 'shared' : 'all'
const sizes = process.argv.slice(2).filter((word) => word !== 'shared')
const [width = 512, layers = 3, sequences = 32, turns = 3] = sizes.map(Number)

function seconds(job) {
  const before = process.cpuUsage()
  const result = job()
  const { user, system } = process.cpuUsage(before)
  return [result, (user + system) / 1e6]
}

const text = readFileSync(new URL('../package-lock.json', import.meta.url))
const shape = { family: 'gpt', layers, width, heads: width / 64, tokens: 128, sequences, steps: 50, rate: 0.001 }
const hasher = hasherOn(await openExactEngine())
const { text: spec, given } = trainWork(text, shape, hasher)
const order = { text: spec, orderId: new Uint8Array(32), seed: new Uint8Array(32) }
const work = openWork(WORK_KINDS, EXACT_OPS, order)
/** As whoever checks has it. */
const expectedWork = openWork(WORK_KINDS, EXACT_OPS, order)

const prover = await openProvingEngines()
const memory = new TensorMemory(prover.exact)
for (const [name, bytes] of given) memory.write(name, work.given.get(name), bytes)
const begun = work.begin()
runProgram(work.ops, memory, begun)
const names = [...work.state.keys()]
for (const [i, name] of begun.after.entries()) memory.rename(name, names[i])
const givenTrees = new Map([...given].map(([name, bytes]) => [name, hasher.tree(work.given.get(name), bytes)]))
const checker = { exact: await openExactEngine(), step: await openStepEngine(), hasher }

let planned = null
let expected = null

function turn(transition) {
  const program = work.transition(transition)
  const [, step] = seconds(() => runProgram(work.ops, memory, program))
  const [, root] = seconds(() =>
    program.after.map((name, i) => hasher.root(work.state.get(names[i]), memory.bytes(name))),
  )
  for (const name of new Set([...program.after, ...program.statistics])) memory.free(name)
  const [committed, commit] = seconds(() => {
    planned = planRest(work.ops, work, transition, wanted, planned)
    return commitTransition(prover, work, planned, memory, givenTrees)
  })
  const nonce = systemRandomness.bytes(32)
  const [proof, prove] = seconds(() => committed.prove(nonce))
  const [problem, check] = seconds(() => {
    expected = planRest(expectedWork.ops, expectedWork, transition, wanted, expected)
    return checkTransition(checker, expectedWork, expected, committed, committed.said, nonce, proof)
  })
  if (problem) throw new Error(`an honest proof is refused: ${JSON.stringify(problem)}`)
  committed.end()
  return { step, root, commit, prove, check, bytes: proof.rest.length + proof.products.length }
}

const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1]
const round = (x) => Number(x.toPrecision(3))
turn(1)
const taken = Array.from({ length: turns }, (_, i) => turn(i + 2))
const of = (name) => median(taken.map((one) => one[name]))
const plan = planRest(work.ops, work, 1, wanted)
const { products, trees } = plan
const reveals = revealsOf(work.ops, plan, drawRest(work.ops, plan, new Uint8Array(32)))
const size = ({ rows, width }) => rows * width
const sum = (values) => values.reduce((all, value) => all + value, 0)
const figures = {
  parameters: sum(names.filter((name) => !name.includes('/')).map((name) => size(work.state.get(name)))),
  'tokens a step': sequences * 128,
  products: products.products.length,
  'kept, entries': sum(products.kept.map(({ shape }) => size(shape))),
  'under roots, tensors': trees.length,
  'step, s': round(of('step')),
  'roots of the state after it, s': round(of('root')),
  'prover: step, code, hashes, s': round(of('commit')),
  'prover: rounds and openings, s': round(of('prove')),
  'check, s': round(of('check')),
  'prover in all / step': round((of('commit') + of('prove')) / of('step')),
  'prover in all / step with roots': round((of('commit') + of('prove')) / (of('step') + of('root'))),
  'step / check': round(of('step') / of('check')),
  'proof, bytes': of('bytes'),
  'log2 of error of products': round(stepError(products, reveals)),
}
const kernels = (await chooseKernels())?.name ?? 'WebAssembly'
console.log(kernels)
console.table(figures)
const words = [width, layers, sequences, turns, ...(isShared ? ['shared'] : [])].join(' ')
const name = isShared ? 'trainingStepShared' : 'trainingStep'
keepResult(name, `node bench/trainingStep.mjs ${words}`, { kernels, figures })
