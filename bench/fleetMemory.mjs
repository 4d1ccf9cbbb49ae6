#!/usr/bin/env node
// Memory of one validator over many verifications: the real verifyBox at the tiny preset against provers in this process
// (the CPU device), openings checked in threads, results in the embedded store.
//   node scripts/build.mjs && node --expose-gc bench/fleetMemory.mjs [verifications]      default 5000
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { serveProver } from '../dist/apps/prover/serveProver.js'
import { createLiveRuns } from '../dist/apps/shared/createLiveRuns.js'
import { FLEET_METRICS } from '../dist/apps/validator/fleet/fleetMetrics.js'
import { runFleet } from '../dist/apps/validator/fleet/runFleet.js'
import { verifyBox } from '../dist/apps/validator/verifyBox.js'
import { signerFrom } from '../dist/core/bytes/ed25519.js'
import { PRESETS } from '../dist/core/params/presets.js'
import { defaultScoreConfig } from '../dist/core/score/defaultScoreConfig.js'
import { openCpuDevice } from '../dist/drivers/gpu/cpu/openCpuDevice.js'
import { openEmbedded } from '../dist/drivers/store/openEmbedded.js'
import { loadCatalogue } from '../dist/drivers/system/loadCatalogue.js'
import { systemClock } from '../dist/drivers/system/systemClock.js'
import { systemRandomness } from '../dist/drivers/system/systemRandomness.js'
import { textMetrics } from '../dist/drivers/system/textMetrics.js'
import { openThreadedChecker } from '../dist/drivers/verifier/openThreadedChecker.js'
import { fleetRules } from '../test/support/fleetRules.mjs'

const total = Number(process.argv[2] ?? 5000)
const BOXES = 250
const SLOTS = 2
const catalogue = await loadCatalogue(fileURLToPath(new URL('../catalogue/gpus.yaml', import.meta.url)))
const signer = signerFrom(systemRandomness.bytes(32))
const checker = await openThreadedChecker()
const folder = mkdtempSync(join(tmpdir(), 'touchstone-bench-'))
const store = await openEmbedded({ folder: join(folder, 'data') })
const free = await Promise.all(Array.from({ length: SLOTS }, () => openCpuDevice({ threads: 1 })))
for (let i = 0; i < BOXES; i++)
  await store.putBox({ id: `box-${i}`, address: `ssh://box-${i}:22`, provider: 'p', claim: null, allocated: false })

const options = {
  ...PRESETS.tiny,
  preset: PRESETS.tiny,
  precisions: ['int8'],
  maxSize: 64,
  memory: false,
  bind: false,
  maxDevices: 1,
  claim: null,
  program: 'bench',
}

/** Our own prover behind streams, as behind the pipes of a process. */
function boxOf(device) {
  return {
    address: 'in process',
    access: {},
    install: async () => {},
    close: async () => {},
    start: async (signal) => {
      const [input, output] = [new PassThrough(), new PassThrough()]
      const inventory = { program: 'bench', devices: [{ ...device.facts, precisions: ['int8'] }], host: {} }
      const write = async (bytes) => void output.write(bytes)
      const open = async () => ({ devices: [device], inventory })
      const ended = serveProver({ signer, open, input, write }, signal).then(() => {
        output.end()
        return { code: 0, lost: false, said: '' }
      })
      return {
        write: async (bytes) => void input.write(bytes),
        output,
        ended,
        stop: async () => {
          input.end()
          await ended
        },
      }
    },
  }
}
const verify = async (_job, { onStep }, signal) => {
  const device = free.pop()
  try {
    const deps = { clock: systemClock, randomness: systemRandomness, signer, checker, catalogue, onStep }
    return await verifyBox(options, { ...deps, connect: async () => boxOf(device) }, signal)
  } finally {
    free.push(device)
  }
}
const samples = []
let finished = 0
const live = createLiveRuns()
const sample = () => {
  globalThis.gc?.()
  const { rss, heapUsed, external } = process.memoryUsage()
  const mega = (value) => Math.round(value / 2 ** 20)
  samples.push({ verifications: finished, rssMiB: mega(rss), heapMiB: mega(heapUsed), externalMiB: mega(external) })
  process.stderr.write(`${JSON.stringify(samples.at(-1))}\n`)
}
const log = { debug() {}, info() {}, warn: (m, f) => console.error(m, f), error: (m, f) => console.error(m, f) }
const deps = { store, clock: systemClock, randomness: systemRandomness, log, metrics: textMetrics(FLEET_METRICS), live }
const rules = {
  ...fleetRules(defaultScoreConfig(catalogue)),
  owner: 'bench',
  // Every round is due at once: the next opens as soon as the one before is done.
  roundEveryMs: 1e12,
  blocksPerRound: 1,
  concurrency: SLOTS,
  jobLimitMs: 600_000,
  pollMs: 100,
}
const stop = new AbortController()
const chain = { height: async () => 1 + Math.floor(finished / BOXES) }
const over = new Promise((resolve) => {
  live.subscribe(({ type, outcome }) => {
    if (type !== 'finished') return
    if (outcome !== 'accepted') throw new Error(`an honest box was ${outcome}`)
    finished++
    if (finished % Math.ceil(total / 20) === 0) sample()
    if (finished >= total) resolve()
  })
})
const began = performance.now()
const running = runFleet({ ...deps, verify, chain }, rules, stop.signal)
await over
const seconds = (performance.now() - began) / 1000
stop.abort()
await running
await Promise.all(free.map((device) => device.close()))
await store.close()
await checker.close()
rmSync(folder, { recursive: true, force: true })
const of = (part) => Math.max(...part.map(({ rssMiB }) => rssMiB))
const quarter = Math.ceil(samples.length / 4)
const report = {
  command: `node --expose-gc bench/fleetMemory.mjs ${total}`,
  date: new Date().toISOString(),
  cpu: cpus()[0]?.model,
  cores: cpus().length,
  node: process.version,
  load: loadavg(),
  verifications: finished,
  seconds,
  highestOfSecondQuarterMiB: of(samples.slice(quarter, 2 * quarter)),
  highestOfLastQuarterMiB: of(samples.slice(-quarter)),
  samples,
}
writeFileSync(new URL('./results/fleetMemory.json', import.meta.url), `${JSON.stringify(report, null, 2)}\n`)
console.log(JSON.stringify(report, null, 2))
