import { join } from 'node:path'
import { BoxRun } from '../../dist/apps/validator/boxRun.js'
import { Exchange } from '../../dist/apps/validator/exchange.js'
import { greetProver } from '../../dist/apps/validator/greetProver.js'
import { ProverSession } from '../../dist/apps/validator/proverSession.js'
import { askParts } from '../../dist/apps/validator/verifyBox.js'
import { PRECISION_NAMES } from '../../dist/core/params/precision.js'
import { PRESETS } from '../../dist/core/params/presets.js'
import { figuresOf } from '../../dist/core/proof/figures.js'
import { openingRanges } from '../../dist/core/proof/openingRanges.js'
import { loadSigner } from '../../dist/drivers/system/loadSigner.js'
import { systemClock } from '../../dist/drivers/system/systemClock.js'
import { systemRandomness } from '../../dist/drivers/system/systemRandomness.js'
import { openThreadedChecker } from '../../dist/drivers/verifier/openThreadedChecker.js'
import { openThisMachine } from '../../dist/main/boxes/openBox.js'
import { cpuTime, sameConditions } from './cpuTime.mjs'

const never = new AbortController().signal
const median = (values) => {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/**
 * The same timed parts on the same machine through a pipe and through SSH: two provers stand ready, one plan is made once
 * and given to both, and every part is asked in turns (here, there, there, here; then the other way round), so that a
 * machine that grows slower or faster weighs on both sides alike. Each turn is a whole challenge of the real protocol.
 */
export async function compareRates({ connectThere, folder, cycles, partSeconds }) {
  const signer = loadSigner(join(folder, 'state'), 'validator', systemRandomness)
  const env = { ...process.env, TOUCHSTONE_HOME: join(folder, 'state') }
  const checker = await openThreadedChecker()
  const here = await openSide(openThisMachine(env, ['--devices', 'cpu']), signer)
  const there = await openSide(await connectThere(), signer)
  try {
    const plan = await calibrated(here, devnet(partSeconds), checker)
    for (const side of [here, there]) for (const part of plan) await turn(side, part) // warm caches and compiled code
    const conditions = sameConditions()
    const results = plan.map(() => [])
    for (let cycle = 0; cycle < cycles; cycle++)
      for (const [i, part] of plan.entries()) results[i].push(await abba(cycle % 2 === 0, here, there, part))
    return { ...summary(plan, results, here, there), sameConditions: conditions }
  } finally {
    for (const side of [here, there]) await side.close()
    await checker.close()
  }
}

/** The plan of a run, as two calibrations make it. */
async function calibrated({ line, greeting, ask }, options, checker) {
  const verify = (run) => checker.check(run, openingRanges(run), () => {}, never)
  const run = new BoxRun({ options, line, verify, onStep: () => {} })
  let state = run.plan(greeting)
  while (state.at === 'sizing' || state.at === 'timing') state = await run.after(state, await ask(state.plan))
  if (state.at !== 'run') throw new Error('the calibration was rejected')
  return state.plan
}

const devnet = (partSeconds) => ({
  preset: PRESETS.devnet,
  precisions: PRECISION_NAMES,
  openings: 1, // not timed
  partSeconds,
  sustainedSeconds: 0,
  maxSize: 32768,
  memory: false,
  bind: false,
  maxDevices: 1,
  claim: null,
  program: 'bench',
})

async function openSide(box, signer) {
  await box.install(never)
  const session = new ProverSession(await box.start(never), systemClock)
  const line = { session, clock: systemClock, randomness: systemRandomness, signal: never }
  const greeting = await greetProver(line)
  const { proverKey, inventory, roundTripSeconds } = greeting
  const to = { proverKey, deviceCount: 1, signer, onProgress: () => {} }
  const ask = (plan) => askParts(new Exchange({ plan, ...to }, line))
  const { device, spent } = { device: inventory.devices[0], spent: [] }
  // Who had the cores between the order to start and the last root.
  const send = session.send.bind(session)
  let before = null
  session.send = async (order) => {
    if (order.type === 'start') before = cpuTime()
    if (order.type === 'reveal') spent.push(since(before))
    return await send(order)
  }
  const close = async () => {
    await session.stop()
    await box.close()
  }
  return { line, greeting, ask, spent, roundTripSeconds, threads: device.details.threads, close }
}

function since(before) {
  const now = cpuTime()
  const spent = Object.fromEntries(
    Object.entries(now.spent).map(([role, ns]) => [role, (ns - before.spent[role]) / 1e9]),
  )
  const ours = Object.values(spent).reduce((sum, seconds) => sum + seconds, 0)
  return { ...spent, others: Math.max(0, (now.machine - before.machine) / 1e9 - ours) }
}

async function turn({ ask, spent }, part) {
  const done = await ask([part])
  if (done.rejected) throw new Error(`the run was rejected: ${done.rejected.code}`)
  const [figure] = figuresOf(done)
  return { seconds: figure.elapsedUs / 1e6, perSecond: figure.perSecond, cpu: spent.at(-1) }
}

async function abba(startHere, here, there, part) {
  const order = startHere ? [here, there, there, here] : [there, here, here, there]
  const turns = []
  for (const side of order) turns.push({ here: side === here, ...(await turn(side, part)) })
  const of = (isHere) => turns.filter((one) => one.here === isHere)
  const seconds = (isHere) => of(isHere).reduce((sum, one) => sum + one.seconds, 0)
  const busy = (isHere) => of(isHere).reduce((sum, { cpu }) => sum + (isHere ? cpu.proverHere : cpu.proverThere), 0)
  const [first, last] = of(true)
  return {
    ratio: seconds(true) / seconds(false),
    processorRatio: busy(true) / busy(false),
    noise: Math.abs(first.seconds / last.seconds - 1),
    turns,
  }
}

function summary(plan, results, here, there) {
  const rows = plan.map((part, i) => {
    const ratios = results[i].map(({ ratio }) => ratio)
    const rates = (isHere) =>
      median(results[i].flatMap(({ turns }) => turns.filter((one) => one.here === isHere).map((one) => one.perSecond)))
    return [
      part.precision,
      {
        ratio: median(ratios),
        lowest: Math.min(...ratios),
        highest: Math.max(...ratios),
        perProcessorSecond: median(results[i].map(({ processorRatio }) => processorRatio)),
        bestAgainstBest: fastest(results[i], true) / fastest(results[i], false),
        hereAgainstHere: median(results[i].map(({ noise }) => noise)),
        size: `m = n = ${part.m}, k = ${part.k}, ${part.rounds} rounds`,
        here: rates(true),
        there: rates(false),
      },
    ]
  })
  const cores = (isHere) => coresOf(results.flat().flatMap(({ turns }) => turns.filter((one) => one.here === isHere)))
  return {
    precisions: Object.fromEntries(rows),
    threads: { here: here.threads, there: there.threads },
    roundTripSeconds: { here: here.roundTripSeconds, there: there.roundTripSeconds },
    coresDuringTimedParts: { here: cores(true), there: cores(false) },
  }
}

const fastest = (cycles, isHere) =>
  Math.min(...cycles.flatMap(({ turns }) => turns.filter((one) => one.here === isHere).map((one) => one.seconds)))

/** Cores each had on average while parts were timed. */
function coresOf(turns) {
  const seconds = turns.reduce((sum, one) => sum + one.seconds, 0)
  const roles = Object.keys(turns[0].cpu)
  return Object.fromEntries(roles.map((role) => [role, turns.reduce((sum, { cpu }) => sum + cpu[role], 0) / seconds]))
}
