#!/usr/bin/env node
// What one validator on this machine verifies in an hour at the cost of the mainnet default, with WebAssembly and then with
// the best kernels that this machine runs, each in a process of its own. Run `node scripts/build.mjs`, then
//   node bench/fleetVerify.mjs [boxes] [runs at once]      default 20, 4 at once
//   node bench/fleetVerify.mjs 4 4 --host                  with the walks of host parts (§12), the best kernels alone
// Evidence: one real run, computed by the CPU device and accepted by the verifier, of the eight parts of the mainnet
// default (five precisions, sustained bf16, memory, bind) with 128 openings each and the k of mainnet (32768, fp32 8192,
// bind 2048). Its matrices are 512 x 512 instead of up to 32768 x 32768: an opening recomputes the same tiles at the same
// k, only its path is shorter (8 nodes instead of up to 20; the hashing that is missing is measured and added below).
// The certificate is issued, signed, compressed and stored at mainnet's size: its openings are filled up with random bytes.
// Everything runs through the real fleet (runFleet, the threaded checker, the embedded store); only connecting to a box
// and waiting for its cards is left out. With --host the walks of one box are checked too, as many and as long as those of a
// server with cores of 650 MB/s: 64 stretches of the CPU, 8 each of 4 GiB of memory and of 1 GiB of a disk.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, getPriority, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { fileURLToPath } from 'node:url'
import { createLiveRuns } from '../dist/apps/shared/createLiveRuns.js'
import { FLEET_METRICS } from '../dist/apps/validator/fleet/fleetMetrics.js'
import { runFleet } from '../dist/apps/validator/fleet/runFleet.js'
import { NOT_ATTESTED } from '../dist/core/certificate/attestedRun.js'
import { issueCertificate } from '../dist/core/certificate/issueCertificate.js'
import { judgeRun } from '../dist/core/certificate/judgeRun.js'
import { createEngine } from '../dist/core/engine/createEngine.js'
import { HOST_BLOCK_BYTES, stepBytes } from '../dist/core/params/hostParts.js'
import { PRESETS } from '../dist/core/params/presets.js'
import { challengeHash, encodeChallenge } from '../dist/core/proof/challenge.js'
import { openingRanges } from '../dist/core/proof/openingRanges.js'
import { kindOf } from '../dist/core/proof/partKinds.js'
import { drawOpening } from '../dist/core/proof/query.js'
import { nonceHash, partSeed } from '../dist/core/proof/seeds.js'
import { partQuery } from '../dist/core/proof/verifyPart.js'
import { defaultScoreConfig } from '../dist/core/score/defaultScoreConfig.js'
import { openCpuDevice } from '../dist/drivers/gpu/cpu/openCpuDevice.js'
import { chooseRounds, openRounds } from '../dist/drivers/host/hostRounds.js'
import { laneOf, laneStart } from '../dist/drivers/host/hostWalk.js'
import { openWalkChecker } from '../dist/drivers/host/openWalkChecker.js'
import { openEmbedded } from '../dist/drivers/store/openEmbedded.js'
import { chooseKernels, openNativeEngine } from '../dist/drivers/system/chooseKernels.js'
import { readKernel } from '../dist/drivers/system/kernelFiles.js'
import { loadCatalogue } from '../dist/drivers/system/loadCatalogue.js'
import { nativeSigner } from '../dist/drivers/system/nativeSigner.js'
import { systemClock } from '../dist/drivers/system/systemClock.js'
import { systemRandomness } from '../dist/drivers/system/systemRandomness.js'
import { textMetrics } from '../dist/drivers/system/textMetrics.js'
import { openThreadedChecker } from '../dist/drivers/verifier/openThreadedChecker.js'
import { fleetRules } from '../test/support/fleetRules.mjs'

const boxes = Number(process.argv[2] ?? 20)
const atOnce = Number(process.argv[3] ?? 4)
const host = process.argv.includes('--host')
const alone = host || process.argv.includes('--alone')
if (!alone) {
  const measure = (engine) => {
    const env = { ...process.env, TOUCHSTONE_ENGINE: engine }
    const args = [fileURLToPath(import.meta.url), `${boxes}`, `${atOnce}`, '--alone']
    const { status, stdout } = spawnSync(process.execPath, args, {
      env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    if (status !== 0) throw new Error(`the run with ${engine || 'the best kernels'} failed`)
    return JSON.parse(stdout)
  }
  const webAssembly = measure('wasm')
  const best = measure('')
  const timesFaster = webAssembly.cpuSecondsPerBox / best.cpuSecondsPerBox
  const target = { atLeast: 3.5 }
  const results = { timesFaster, target, met: timesFaster >= target.atLeast, best, webAssembly }
  writeFileSync(new URL('./results/fleetVerify.json', import.meta.url), `${JSON.stringify(results, null, 2)}\n`)
  console.log(JSON.stringify(results, null, 2))
  process.exit(results.met ? 0 : 1)
}
const SIDE = 512
const OPENINGS = 128
const never = new AbortController().signal
const say = (text) => process.stderr.write(`${text}\n`)

const base = { m: SIDE, n: SIDE, openings: OPENINGS, mask: 1, limitMs: 600_000, openLimitMs: 600_000, kept: [0] }
const SHAPES = [
  { kind: 'rounds', precision: 'int8', k: 32768, rounds: 1 },
  { kind: 'rounds', precision: 'fp8', k: 32768, rounds: 1 },
  { kind: 'rounds', precision: 'bf16', k: 32768, rounds: 1 },
  { kind: 'rounds', precision: 'fp16', k: 32768, rounds: 1 },
  { kind: 'rounds', precision: 'fp32', k: 8192, rounds: 1 },
  { kind: 'rounds', precision: 'bf16', k: 32768, rounds: 2 },
  { kind: 'memory', precision: 'int8', k: 32768, rounds: 3, kept: [2] },
  { kind: 'bind', precision: 'int8', k: 2048, rounds: 4 },
]
/** Bytes of openings per part on a card with 32768 x 32768 matrices and a fill of 4096 rounds of 4096 x 4096. */
const mainnetBytes = ({ kind }) => OPENINGS * 32 * (kind === 'memory' ? 14 + 12 + 14 : 20)

async function provenRun() {
  const nonces = SHAPES.map(() => systemRandomness.bytes(32))
  const challenge = {
    version: 2,
    runId: systemRandomness.bytes(16),
    validatorKey: systemRandomness.bytes(32),
    proverKey: systemRandomness.bytes(32),
    deviceCount: 1,
    parts: SHAPES.map((shape, p) => ({ ...base, ...shape, nonceHash: nonceHash(nonces[p]) })),
  }
  const x = challengeHash(encodeChallenge(challenge))
  const device = await openCpuDevice()
  const parts = []
  for (const [p, part] of challenge.parts.entries()) {
    say(`computing part ${p}: ${part.kind} ${part.precision}`)
    const s = systemRandomness.bytes(32)
    const z = part.kind === 'memory' ? systemRandomness.bytes(32) : null
    const roots = []
    const onRoot = (root) => roots.push(root)
    const { kind, precision, m, n, k, rounds } = part
    const seed = partSeed(x, s, p, 0)
    if (z) {
      await device.fill({ m, n, k, kept: part.kept[0], seed }, onRoot, never)
      await device.runPasses({ passes: rounds, start: z }, onRoot, never)
    } else await device.runSeries({ kind, precision, m, n, k, rounds, seed }, onRoot, never)
    const zSentUs = z ? 1_000_000 : null
    const arrivalsUs = roots.map((_, i) => (z && i < part.kept[0] ? 500_000 : 5_000_000) + i * 1000)
    const evidence = { device: 0, roots, arrivalsUs, openings: new Uint8Array(0) }
    const run = { challenge, parts: [...parts, { s, z, zSentUs, nonce: nonces[p], devices: [evidence] }] }
    const tiles = kindOf(part).tiles(challenge.parts, p, 0)
    const asked = Array.from({ length: OPENINGS }, (_, i) => drawOpening(partQuery(run, p), 0, i, rounds, tiles))
    const openings = await (z ? device.openPasses(asked, never) : device.openSeries(asked, never))
    parts.push({ s, z, zSentUs, nonce: nonces[p], devices: [{ ...evidence, openings }] })
  }
  await device.close()
  return { challenge, parts }
}

/** The same run with openings as long as mainnet's: for the size of what is issued and stored, never for a check. */
const atMainnetSize = ({ challenge, parts }) => ({
  challenge,
  parts: parts.map((part, p) => ({
    ...part,
    devices: part.devices.map((device) => ({ ...device, openings: systemRandomness.bytes(mainnetBytes(SHAPES[p])) })),
  })),
})

/** A stretch as a lane walks it in a sixteenth of 0.8 s: 28 GB/s of a processor, 650 MB/s over blocks. */
function stretchIn(target, blocks) {
  const bytesPerSec = target === 'cpu' ? 28e9 : 650e6
  const steps = Math.floor((bytesPerSec / stepBytes(target)) * (0.8 / 16))
  const task = { target, seed: systemRandomness.bytes(32), blocks, nonce: systemRandomness.bytes(32), lane: 0 }
  return { ...task, from: null, to: laneOf(task, rounds)(laneStart(task.nonce, 0), steps), steps }
}

const GIB = 2 ** 30
const rounds = await openRounds(await chooseRounds())
const walks = [
  ['cpu', 1, 64],
  ['memory', (4 * GIB) / HOST_BLOCK_BYTES, 8],
  ['disk', GIB / HOST_BLOCK_BYTES, 8],
].map(([target, blocks, count]) => Array(count).fill(host ? stretchIn(target, blocks) : null))
const walkChecker = openWalkChecker()
const run = await provenRun()
const large = atMainnetSize(run)
const catalogue = await loadCatalogue(fileURLToPath(new URL('../catalogue/gpus.yaml', import.meta.url)))
const signer = nativeSigner(systemRandomness.bytes(32))
const checker = await openThreadedChecker()
const folder = mkdtempSync(join(tmpdir(), 'touchstone-bench-'))
const store = await openEmbedded({ folder: join(folder, 'data') })
const facts = { class: 'gpu', backEnd: 'cuda', name: 'Card', memoryBytes: 2 ** 36, freeBytes: 2 ** 36 }
const inventory = {
  program: 'bench',
  devices: [{ ...facts, precisions: ['int8', 'fp8', 'bf16', 'fp16', 'fp32'], details: {} }],
  host: {},
}
const ranges = openingRanges(run)
let certificateBytes = 0

const verify = async (job, { onStep }, signal) => {
  // Every run holds its own evidence.
  const evidence = structuredClone(large)
  let done = 0
  const rejected = await checker.check(
    run,
    ranges,
    (openings) => {
      done += openings
      onStep({ step: 'verify', done, of: SHAPES.length * OPENINGS })
    },
    signal,
  )
  if (rejected) throw new Error(`honest evidence was refused: ${JSON.stringify(rejected)}`)
  if (host)
    for (const stretches of walks)
      if ((await walkChecker.check(stretches, signal)) !== null) throw new Error('honest walks were refused')
  const judged = {
    run,
    preset: PRESETS.devnet,
    deviceClasses: ['gpu'],
    catalogue,
    claim: null,
    roundTripUs: 0,
    rejected,
  }
  const judgement = judgeRun(judged)
  const issued = systemClock.wallTime()
  const signatures = { readySignature: new Uint8Array(64), resultSignature: new Uint8Array(64) }
  const certificate = issueCertificate(
    {
      ...signatures,
      run: evidence,
      program: 'bench',
      catalogue,
      issuedMs: issued.getTime(),
      seconds: 60,
      preset: 'devnet',
      roundTripUs: 0,
      claim: null,
      inventory,
      telemetry: [],
      faults: [],
      judgement,
    },
    signer,
  )
  certificateBytes = certificate.length
  const { proverKey } = run.challenge
  const runId = systemRandomness.bytes(16)
  const told = { address: job.box.address, access: {}, preset: 'devnet', proverKey, runId, inventory, faults: [] }
  const rest = { telemetry: [], gaveUp: false, window: null, attested: NOT_ATTESTED, host: [] }
  return { ...told, ...rest, judgement, certificate, startedAt: issued.toISOString(), seconds: 0 }
}

for (let i = 0; i < boxes + 2; i++)
  await store.putBox({ id: `box-${i}`, address: `ssh://box-${i}:22`, provider: 'p', claim: null, allocated: false })
const log = {
  debug() {},
  info() {},
  warn: (m, f) => say(`${m} ${JSON.stringify(f)}`),
  error: (m, f) => {
    failed = true
    say(`${m} ${JSON.stringify(f)}`)
  },
}
const rules = {
  ...fleetRules(defaultScoreConfig(catalogue)),
  owner: 'bench',
  roundEveryMs: 1e9,
  concurrency: atOnce,
  jobLimitMs: 7_200_000,
  stallMs: 7_200_000,
  startLimitMs: 7_200_000,
  pollMs: 1000,
}
const stop = new AbortController()
const live = createLiveRuns()
const delay = monitorEventLoopDelay({ resolution: 1 })
let finished = 0
let failed = false
let began = 0
let cpuBegan = process.cpuUsage()
let rssMost = 0
const over = new Promise((resolve) => {
  live.subscribe(({ type }) => {
    if (type !== 'finished') return
    // A box that failed would be through in no time.
    if (failed) throw new Error('a box was not verified')
    finished++
    rssMost = Math.max(rssMost, process.memoryUsage.rss())
    say(`${finished} done`)
    // The first two warm up compilers and threads.
    if (finished === 2) {
      began = performance.now()
      cpuBegan = process.cpuUsage()
      delay.enable()
    }
    if (finished === boxes + 2) resolve()
  })
})
const deps = { store, clock: systemClock, randomness: systemRandomness, log, metrics: textMetrics(FLEET_METRICS), live }
const running = runFleet({ ...deps, verify, chain: null }, rules, stop.signal)
await over
const wall = (performance.now() - began) / 1000
const used = process.cpuUsage(cpuBegan)
const cpu = (used.user + used.system) / 1e6
delay.disable()
stop.abort()
await running
await store.close()
await checker.close()
await walkChecker.close()
rmSync(folder, { recursive: true, force: true })

const library = await chooseKernels()
const engine = library ? await openNativeEngine(library) : await createEngine(await readKernel('engine.wasm'))
const NODES = 20_000
const own = { seed: new Uint8Array(32), precision: 'int8', k: 32, tileRow: 0, tileColumn: 0 }
const hashBegan = performance.now()
engine.rootFrom({ own, kept: false, salt: 0, leaf: 0, path: new Uint8Array(32 * NODES) })
const perHash = (performance.now() - hashBegan) / 1000 / NODES
const missingNodes = SHAPES.reduce(
  (sum, shape, p) => sum + (mainnetBytes(shape) - run.parts[p].devices[0].openings.length) / 32,
  0,
)
const cpuPerBox = cpu / boxes + missingNodes * perHash
const cores = cpus().length
const results = {
  engine: library?.name ?? 'WebAssembly',
  command: `node bench/fleetVerify.mjs ${boxes} ${atOnce}${host ? ' --host' : ''}`,
  atOnce,
  date: new Date().toISOString(),
  cpu: cpus()[0]?.model,
  cores,
  node: process.version,
  load: loadavg(),
  priority: getPriority(),
  note: 'boxesPerHour from processor time: cores * 3600 / seconds of processor time per box, the missing path nodes added. boxesPerHourByWallClock is what this run did beside whatever else the machine was doing (see load).',
  boxes,
  cpuSecondsPerBox: cpuPerBox,
  missingHashSecondsPerBox: missingNodes * perHash,
  boxesPerHour: (cores * 3600) / cpuPerBox,
  secondsPerWindowOf256: (256 * cpuPerBox) / cores,
  boxesPerHourByWallClock: (boxes * 3600) / wall,
  coresBusy: cpu / wall,
  eventLoopDelayMs: { p50: delay.percentile(50) / 1e6, p99: delay.percentile(99) / 1e6, max: delay.max / 1e6 },
  certificateBytes,
  residentMostMiB: rssMost / 2 ** 20,
}
console.log(JSON.stringify(results, null, 2))
