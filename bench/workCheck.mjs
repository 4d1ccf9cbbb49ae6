#!/usr/bin/env node
// What a check of a receipt costs beside doing the work: both on one core, by processor time. A GPT of about 10 million
// parameters, 100 steps (`node bench/workCheck.mjs [steps] [width] [layers]`).
import { readFileSync } from 'node:fs'
import { checkReceipt } from '../dist/core/work/checkReceipt.js'
import { operationsOf } from '../dist/core/work/program.js'
import { proveWork } from '../dist/core/work/proveWork.js'
import { receiptOf, stateReceipt } from '../dist/core/work/receipt.js'
import { patchRunner } from '../dist/core/work/runPatch.js'
import { tensorBytes } from '../dist/core/work/tensor.js'
import { openWork } from '../dist/core/work/work.js'
import { hasherOn } from '../dist/core/work/workEngine.js'
import { WORK_KINDS } from '../dist/core/work/workKinds.js'
import { EXACT_OPS } from '../dist/core/work/workOps.js'
import { openCpuWork, openExactEngine } from '../dist/drivers/gpu/cpu/work/openCpuWork.js'
import { systemRandomness } from '../dist/drivers/system/systemRandomness.js'
import { trainWork } from '../dist/main/work/trainWork.js'
import { keepResult } from './support/keepResult.mjs'

const [steps = 100, width = 320, layers = 8] = process.argv.slice(2).map(Number)
const seconds = async (job) => {
  const before = process.cpuUsage()
  const result = await job()
  const { user, system } = process.cpuUsage(before)
  return { result, seconds: (user + system) / 1e6 }
}

const text = readFileSync(new URL('../package-lock.json', import.meta.url))
const shape = { family: 'gpt', layers, width, heads: 5, tokens: 128, sequences: 8, steps, rate: 0.001 }
const { text: spec, given } = trainWork(text, shape, hasherOn(await openExactEngine()))
const order = { text: spec, orderId: systemRandomness.bytes(32), seed: systemRandomness.bytes(32) }
const work = openWork(WORK_KINDS, EXACT_OPS, order)
const device = await openCpuWork()
const run = await device.start(work, given)
/** As the side that works keeps them (src/apps/work/serveWork.ts): what lies between two is run again where it is drawn. */
const KEPT_BYTES = 2 ** 30
const stateBytes = [...work.state.values()].reduce((sum, shape) => sum + tensorBytes(shape), 0)
const keptEvery = Math.max(1, Math.ceil((stateBytes * work.ends.length) / KEPT_BYTES))
const worked = await seconds(async () => {
  const { root: firstRoot } = await run.advance(-1)
  await run.keep(-1)
  const marks = []
  for (let segment = 0; segment < work.ends.length; segment++) {
    marks.push(await run.advance(segment))
    if ((segment + 1) % keptEvery === 0) await run.keep(segment)
  }
  return { firstRoot, marks }
})
const proven = await seconds(() => proveWork(work, worked.result, run, () => systemRandomness.bytes(32)))
const executed = { ...worked.result, ...proven.result }
const receipt = { ...order, ...executed, workId: work.workId, proverKey: new Uint8Array(32), spec }
const named = { program: 'bench', device: device.name, startedAt: '', issuedAt: '', notAfter: '' }
const { statement, evidence } = stateReceipt({ ...receipt, ...named, drawnBy: 'device', elapsedUs: null })
const bytes = JSON.stringify(statement).length + evidence.length
const engine = await openExactEngine()
const checked = await seconds(() => checkReceipt(work, receiptOf(statement, evidence), patchRunner(engine, EXACT_OPS)))
if (checked.result.problem) throw new Error(`the receipt does not hold: ${checked.result.problem.code}`)
const parameters = [...work.state].filter(([name]) => !name.includes('/'))
const figures = {
  device: device.name,
  parameters: parameters.reduce((sum, [, { rows, width: columns }]) => sum + rows * columns, 0),
  steps,
  operations: operationsOf(EXACT_OPS, work.transition(1)) * steps,
  executeSeconds: worked.seconds,
  proveSeconds: proven.seconds,
  checkSeconds: checked.seconds,
  checkOverExecute: checked.seconds / worked.seconds,
  receiptBytes: bytes,
}
console.log(figures)
keepResult('workCheck', ['node bench/workCheck.mjs', ...process.argv.slice(2)].join(' '), figures)
