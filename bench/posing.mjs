#!/usr/bin/env node
// One CPU as 2, 4, 16 and 32 devices, for real: run `node scripts/build.mjs`, then
//   node bench/posing.mjs [cycles]      default 2, about a minute on two idle cores
// The posing prover (bench/support/posingProver.mjs) serves D series with one CPU: in turns, 48 rounds each, against 48
// rounds as one device; or all at once, 384 rounds together, against 384. Openings are verified. What is compared is the
// work counted per second of processor time that the prover had until the instant that counts: other work on the machine
// takes wall time from both. Above 1.00 the posing would pay, but for the noise: other work also makes a second of
// processor time worth more or less, as the rows of one device show (the same work before and after), and "all work
// done", which is all work over all processor time and no rule at all. Version 1 is beside it, on the same runs.
import { writeFileSync } from 'node:fs'
import { availableParallelism, cpus, loadavg } from 'node:os'
import { fileURLToPath } from 'node:url'
import { Exchange } from '../dist/apps/validator/exchange.js'
import { greetProver } from '../dist/apps/validator/greetProver.js'
import { ProverSession } from '../dist/apps/validator/proverSession.js'
import { askParts } from '../dist/apps/validator/verifyBox.js'
import { countedPerSecond } from '../dist/core/proof/figures.js'
import { openingRanges } from '../dist/core/proof/openingRanges.js'
import { openLocalBox } from '../dist/drivers/remote/local/openLocalBox.js'
import { nativeSigner } from '../dist/drivers/system/nativeSigner.js'
import { systemClock } from '../dist/drivers/system/systemClock.js'
import { systemRandomness } from '../dist/drivers/system/systemRandomness.js'
import { openThreadedChecker } from '../dist/drivers/verifier/openThreadedChecker.js'
import { proverClock } from './support/cpuTime.mjs'

const cycles = Number(process.argv[2] ?? 2)
const COUNTS = [2, 4, 16, 32]
/** Rounds of each device, at least the 8 of the protocol. */
const roundsOf = (mode, devices) => (mode === 'turns' ? 48 : 384 / devices)
const SIZE = { m: 256, n: 256, k: 2048 }
const WORK = 2 * SIZE.m * SIZE.n * SIZE.k
const never = new AbortController().signal
const prover = fileURLToPath(new URL('support/posingProver.mjs', import.meta.url))
const began = performance.now()
const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]
const checker = await openThreadedChecker()

/** One part of `devices` series, and the processor time of the prover while it ran. */
async function measure(mode, devices) {
  const served = devices === 1 ? 'turns' : mode
  const box = openLocalBox({ command: [process.execPath, prover, served, String(devices)], env: process.env })
  const session = new ProverSession(await box.start(never), systemClock)
  const samples = []
  try {
    const line = { session, clock: systemClock, randomness: systemRandomness, signal: never }
    const { proverKey } = await greetProver(line)
    const spent = proverClock()
    const sample = () => samples.push({ atUs: systemClock.monotonicUs(), seconds: spent() })
    const signer = nativeSigner(new Uint8Array(32).fill(8))
    const ask = (plan, onProgress = () => {}) =>
      askParts(new Exchange({ plan, proverKey, deviceCount: devices, signer, onProgress }, line))
    const limits = { limitMs: 600_000, openLimitMs: 600_000 }
    const mask = 2 ** devices - 1
    const kept = Array(devices).fill(0)
    const part = {
      kind: 'rounds',
      precision: 'int8',
      ...SIZE,
      rounds: roundsOf(mode, devices),
      openings: 2,
      mask,
      kept,
      ...limits,
    }
    // The first run warms caches and compiled code.
    await ask([{ ...part, rounds: Math.ceil(48 / devices) }])
    let t0Us = 0
    const send = session.send.bind(session)
    session.send = async (order) => {
      if (order.type === 'start') sample()
      const atUs = await send(order)
      if (order.type === 'start') t0Us = atUs
      return atUs
    }
    const run = await ask([part], ({ phase }) => phase === 'rounds' && sample())
    const rejected = run.rejected ?? (await checker.check(run, openingRanges(run), () => {}, never))
    if (rejected) throw new Error(`rejected: ${JSON.stringify(rejected)}`)
    return perProcessorSecond(run, (us) => at(samples, t0Us + us) - samples[0].seconds)
  } finally {
    await session.stop()
    await box.close()
  }
}

/** Processor seconds at an instant, between the two samples around it. */
function at(samples, us) {
  const after = samples.findIndex(({ atUs }) => atUs >= us)
  if (after <= 0) return samples.at(after).seconds
  const [a, b] = [samples[after - 1], samples[after]]
  return a.seconds + ((b.seconds - a.seconds) * (us - a.atUs)) / Math.max(1, b.atUs - a.atUs)
}

function perProcessorSecond(run, spentBy) {
  const { devices } = run.parts[0]
  const sum = (rules) => countedPerSecond(run, rules).reduce((total, rate) => total + rate, 0)
  const lastOf = ({ arrivalsUs }) => arrivalsUs.at(-1)
  // Version 1 counts when the first device is done; version 2 at the instant whose sum over time is the largest.
  const firstUs = Math.min(...devices.map(lastOf))
  const arrived = (us) => devices.reduce((total, { arrivalsUs }) => total + arrivalsUs.filter((a) => a <= us).length, 0)
  const instants = devices.flatMap(({ arrivalsUs }) => arrivalsUs).filter((us) => 2 * us >= firstUs)
  const countedUs = instants.reduce((best, us) => (arrived(us) / us > arrived(best) / best ? us : best))
  const share = (rate, us) => (rate * (us / 1e6)) / WORK / spentBy(us)
  const lastUs = Math.max(...devices.map(lastOf))
  const done = arrived(lastUs) / spentBy(lastUs)
  return { version1: share(sum(1), firstUs), version2: share(sum(2), countedUs), done }
}

/** Against the mean of one device before and after. */
const against = ({ version1, version2, done }, before, after) => {
  const one = (before.version2 + after.version2) / 2
  return { version1: version1 / one, version2: version2 / one, done: (2 * done) / (before.done + after.done) }
}

const rows = []
for (let cycle = 0; cycle < cycles; cycle++)
  for (const mode of ['turns', 'at-once']) {
    let before = await measure(mode, 1)
    for (const devices of COUNTS) {
      const posed = await measure(mode, devices)
      const after = await measure(mode, 1)
      rows.push({ mode, devices, ...against(posed, before, after) })
      // What the machine makes of the same work twice in a row.
      rows.push({ mode, devices: 1, ...against(after, before, after) })
      before = after
    }
  }
await checker.close()

const figures = ['turns', 'at-once'].flatMap((mode) =>
  [1, ...COUNTS].map((devices) => {
    const own = rows.filter((row) => row.mode === mode && row.devices === devices)
    const of = (rules) => own.map((row) => row[rules])
    return {
      mode,
      devices,
      version2: median(of('version2')),
      highest: Math.max(...of('version2')),
      done: median(of('done')),
      version1: median(of('version1')),
    }
  }),
)
for (const { mode, devices, version2, highest, done, version1 } of figures)
  console.log(
    `${mode.padEnd(8)} ${String(devices).padStart(2)} devices: ${version2.toFixed(3)} of one (highest ${highest.toFixed(3)}; all work done ${done.toFixed(3)}); version 1 ${version1.toFixed(3)}`,
  )
const seconds = (performance.now() - began) / 1000
const machine = { cpu: cpus()[0].model, cores: availableParallelism(), node: process.version, load: loadavg() }
const result = {
  command: `node bench/posing.mjs ${cycles}`,
  date: new Date().toISOString(),
  ...machine,
  seconds,
  figures,
  rows,
}
writeFileSync(new URL('results/posing.json', import.meta.url), `${JSON.stringify(result, null, 2)}\n`)
