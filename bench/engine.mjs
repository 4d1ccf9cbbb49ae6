#!/usr/bin/env node
// Every build of the kernels side by side, on one core: openings, products. A whole certificate: bench/certificate.mjs. Run
// `node scripts/build.mjs` first, then
//   node bench/engine.mjs           all of it, 10,000 openings for the memory figure (some minutes)
//   node bench/engine.mjs --quick   1,000 openings
// "One core" means one second of processor time, all threads of the process counted, so that other work on the machine
// does not pass for ours; each figure is the best of several short turns, with the median, and the best by the wall clock,
// beside it. Results go to bench/results/engine.json.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { ENGINE_BYTES, engineOn } from '../dist/core/engine/engineOn.js'
import { alignUp } from '../dist/core/engine/kernels.js'
import { challengeHash, encodeChallenge } from '../dist/core/proof/challenge.js'
import { drawOpening } from '../dist/core/proof/query.js'
import { nonceHash, partSeed } from '../dist/core/proof/seeds.js'
import { partQuery, rangeVerifier } from '../dist/core/proof/verifyPart.js'
import { openCpuDevice } from '../dist/drivers/gpu/cpu/openCpuDevice.js'
import { loadNativeKernels } from '../dist/drivers/system/nativeKernels.js'
import { keepResult } from './support/keepResult.mjs'

const quick = process.argv.includes('--quick')
const built = (name) => new URL(`../kernels/built/${name}`, import.meta.url)
const wasm = readFileSync(built('engine.wasm'))
const never = new AbortController().signal
const rows = []

function report(what, figure, unit, target, more = {}) {
  const met = target === null ? null : target.atMost === undefined ? figure >= target.atLeast : figure <= target.atMost
  rows.push({ what, figure, unit, target, met, ...more })
}

const cpuSeconds = () => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6
}

/** Processor seconds of the best and of the middle turn, and the best by the wall clock. */
async function turns(count, work) {
  const times = []
  const walls = []
  for (let i = 0; i < count; i++) {
    const [cpu, wall] = [cpuSeconds(), performance.now()]
    await work(i)
    times.push(cpuSeconds() - cpu)
    walls.push((performance.now() - wall) / 1000)
  }
  times.sort((a, b) => a - b)
  return { best: times[0], median: times[times.length >> 1], wall: Math.min(...walls) }
}

/** Small, so that the prover's operands do not pass for the verifier's memory: a tile costs the same in any matrix. */
const SIDE = 128

/** A real run of one part on the CPU device: the verifier below checks it as it checks any other. */
async function provenRun(precision, k, openings) {
  const nonce = new Uint8Array(32).fill(3)
  const part = {
    kind: 'rounds',
    precision,
    m: SIDE,
    n: SIDE,
    k,
    rounds: 1,
    openings,
    mask: 1,
    limitMs: 1,
    openLimitMs: 1,
  }
  const challenge = {
    version: 2,
    runId: new Uint8Array(16),
    validatorKey: new Uint8Array(32),
    proverKey: new Uint8Array(32),
    deviceCount: 1,
    parts: [{ ...part, kept: [0], nonceHash: nonceHash(nonce) }],
  }
  const s = new Uint8Array(32).fill(9)
  const seed = partSeed(challengeHash(encodeChallenge(challenge)), s, 0, 0)
  const device = await openCpuDevice()
  const roots = []
  await device.runSeries(
    { kind: 'rounds', precision, m: SIDE, n: SIDE, k, rounds: 1, seed },
    (root) => roots.push(root),
    never,
  )
  const evidence = { device: 0, roots, arrivalsUs: [1], openings: new Uint8Array(0) }
  const run = { challenge, parts: [{ s, z: null, zSentUs: null, nonce, devices: [evidence] }] }
  const query = partQuery(run, 0)
  const asked = Array.from({ length: openings }, (_, i) => drawOpening(query, 0, i, 1, (SIDE / 32) ** 2))
  const paths = await device.openSeries(asked, never)
  await device.close()
  return { ...run, parts: [{ ...run.parts[0], devices: [{ ...evidence, openings: paths }] }] }
}

/** Kernels on so many bytes of memory that are theirs from `start` on. */
async function wasmKernels(bytes) {
  const { instance } = await WebAssembly.instantiate(wasm, {})
  const kernels = instance.exports
  const start = alignUp(kernels.__heap_base.value, 64)
  kernels.memory.grow(Math.ceil((start + bytes) / 65536))
  return { kernels, buffer: kernels.memory.buffer, start }
}

const nativeKernels = (library) => async (bytes) => {
  const memory = new Uint8Array(bytes)
  return { kernels: library.on(memory), buffer: memory.buffer, start: 0 }
}

/** Every build that this machine runs. The figures that each must reach; null where nobody asked. */
async function builds() {
  const all = [
    {
      engine: 'wasm',
      name: 'WebAssembly',
      open: wasmKernels,
      asked: { int8: 180, fp32: 50, product: 20 },
    },
  ]
  const natives = [
    { engine: 'avx2', name: 'AVX2', asked: { int8: null, fp32: 600, product: 45 } },
    { engine: 'avx512', name: 'AVX-512', asked: { int8: 1200, fp32: 600, product: 100 } },
  ]
  for (const native of natives) {
    const library = await loadNativeKernels(fileURLToPath(built(`native-${native.engine}.so`)))
    if (library.supported) all.push({ ...native, open: nativeKernels(library) })
  }
  return all
}

const target = (least) => (least === null ? null : { atLeast: least })

async function verifyRates(all, precision, k) {
  const run = await provenRun(precision, k, 400)
  const checks = []
  for (const { name, open, asked } of all) {
    const { kernels, buffer, start } = await open(ENGINE_BYTES)
    const verify = rangeVerifier(run, engineOn(kernels, buffer, start))
    const check = (from, to) => {
      const reason = verify({ part: 0, device: 0, from, to })
      if (reason) throw new Error(`an honest opening was refused: ${reason.code}`)
    }
    check(0, 20)
    const { best, median, wall } = await turns(quick ? 100 : 400, (i) => check(i, i + 1))
    const more = { median: 1 / median, wall: 1 / wall }
    report(`${name}: openings of ${precision} at k = ${k}`, 1 / best, '1/s', target(asked[precision]), more)
    checks.push(check)
  }
  return checks
}

/** All of an opening beside its tile, with a path as long as the longest of a mainnet run: what a batch could save at most. */
async function besideTheTile(all) {
  const own = { seed: new Uint8Array(32), precision: 'int8', k: 32768, tileRow: 0, tileColumn: 0 }
  const opening = { own, kept: false, salt: 7, leaf: 12345, path: new Uint8Array(32 * 20) }
  for (const { name, open } of all) {
    const { kernels, buffer, start } = await open(ENGINE_BYTES)
    const engine = engineOn({ ...kernels, tile() {} }, buffer, start)
    const many = 1000
    const work = () => {
      for (let i = 0; i < many; i++) engine.rootFrom(opening)
    }
    work()
    const { best, median, wall } = await turns(quick ? 50 : 200, work)
    const [figure, ...more] = [best, median, wall].map((seconds) => (1e6 * seconds) / many)
    report(`${name}: an opening beside its tile`, figure, 'us', null, { median: more[0], wall: more[1] })
  }
}

/** Resident memory while many openings are verified; the first thousand warm up compilers and collectors. */
async function memory(check) {
  const total = quick ? 1000 : 10_000
  const resident = []
  for (let done = 0; done < total; done += 100) {
    check(done % 400, (done % 400) + 100)
    await new Promise((resolve) => setImmediate(resolve))
    resident.push(process.memoryUsage.rss())
  }
  const mega = (value) => value / 2 ** 20
  const early = Math.max(...resident.slice(0, Math.ceil(resident.length / 4)))
  const late = Math.max(...resident.slice(-Math.ceil(resident.length / 4)))
  report(`resident memory, ${total} openings, highest`, mega(Math.max(...resident)), 'MiB', { atMost: 200 })
  report('  its growth, last quarter against first', mega(late - early), 'MiB', { atMost: 8 })
}

/** The steps of a round on n x n over k, each alone, on operands that lie in memory; a strip is 32 rows of C. */
async function roundSteps(open, n, k) {
  const tiles = (n / 32) ** 2
  const { kernels, start } = await open(16384 + 4 * n * k + 80 * tiles)
  const [seed, out, masks, a] = [start, start + 64, start + 8192, start + 16384]
  const b = a + 2 * n * k
  const fingerprints = b + 2 * n * k
  const tree = fingerprints + 16 * tiles
  const strip = 32 * k * 2
  const across = n / 32
  kernels.masks(1, 1024, masks)
  const entries = (i) => {
    kernels.entries(seed, 0, 0, 32 * i, 32, k, a + i * strip)
    kernels.entries(seed, 1, 0, 32 * i, 32, k, b + i * strip)
  }
  const product = (i) => {
    for (let j = 0; j < across; j++) kernels.product(0, a + i * strip, b + j * strip, k, out)
  }
  const fingerprint = (i) => {
    for (let j = 0; j < across; j++) kernels.fingerprintTile(out, masks, fingerprints + 16 * (i * across + j))
  }
  const hash = () => kernels.subtree(fingerprints, 0, tiles, 0, tiles, tree)
  for (let i = 0; i < across; i++) entries(i)
  return { strips: across, entries, product, fingerprint, hash }
}

/** The fastest plain form found: whole-number multiplication, four sums. */
function plainDot(x, fromX, y, fromY, k) {
  let [s, t, u, v] = [0, 0, 0, 0]
  for (let i = 0; i < k; i += 4) {
    s = (s + Math.imul(x[fromX + i], y[fromY + i])) | 0
    t = (t + Math.imul(x[fromX + i + 1], y[fromY + i + 1])) | 0
    u = (u + Math.imul(x[fromX + i + 2], y[fromY + i + 2])) | 0
    v = (v + Math.imul(x[fromX + i + 3], y[fromY + i + 3])) | 0
  }
  return (s + t + u + v) | 0
}

/** Plain JavaScript over the same entries: rows of C, dot by dot. */
function plainProduct(n, k, lines) {
  const a = Int8Array.from({ length: n * k }, (_, i) => ((i * 7919) % 255) - 127)
  const b = Int8Array.from({ length: n * k }, (_, i) => ((i * 104729) % 255) - 127)
  let kept = 0
  return () => {
    for (let r = 0; r < lines; r++) for (let c = 0; c < n; c++) kept ^= plainDot(a, r * k, b, c * k, k)
    return kept
  }
}

async function productRates(all) {
  const n = 2048
  const rate = (time) => (32 * n ** 2) / time / 1e9
  for (const { name, open, asked } of all) {
    const { product, strips } = await roundSteps(open, n, n)
    for (let i = 0; i < strips; i++) product(i)
    const { best, median, wall } = await turns(quick ? 300 : 1000, (i) => product(i % strips))
    const more = { median: rate(median), wall: rate(wall) }
    report(`${name}: int8 product, n = k = ${n}`, rate(best), 'G mul-add/s', target(asked.product), more)
  }
  const lines = 8
  const plain = plainProduct(n, n, lines)
  for (let i = 0; i < 20; i++) plain()
  const plainTimes = await turns(quick ? 50 : 200, plain)
  const share = lines / 32
  report('plain JavaScript: the same', share * rate(plainTimes.best), 'G mul-add/s', null, {
    median: share * rate(plainTimes.median),
    wall: share * rate(plainTimes.wall),
  })
}

/**
 * Twice: the steps alone, from short turns, and whole rounds of the device on one thread against the bare product, the two
 * taking turns so that noise hits both.
 */
async function overhead({ engine, name, open }, most) {
  const n = 2048
  const steps = await roundSteps(open, n, n)
  const { strips } = steps
  const best = async (work) => (await turns(quick ? 100 : 400, (i) => work(i % strips))).best
  const ms = {
    product: 1000 * strips * (await best(steps.product)),
    entries: 1000 * strips * (await best(steps.entries)),
    fingerprints: 1000 * strips * (await best(steps.fingerprint)),
    tree: 1000 * (await best(steps.hash)),
  }
  const share = (100 * (ms.entries + ms.fingerprints + ms.tree)) / ms.product
  report(`${name}: entries, fingerprints and tree over the product, n = k = 2048`, share, '%', most, { ms })
  const device = await openCpuDevice({ threads: 1, environment: { TOUCHSTONE_ENGINE: engine } })
  const task = { kind: 'rounds', precision: 'int8', m: n, n, k: n, rounds: 1, seed: new Uint8Array(32) }
  const round = () => device.runSeries(task, () => {}, never)
  const product = () => {
    for (let i = 0; i < strips; i++) steps.product(i)
  }
  await round()
  const ratios = []
  for (let i = 0; i < (quick ? 7 : 25); i++) {
    const bare = await turns(1, product)
    ratios.push((await turns(1, round)).best / bare.best)
  }
  await device.close()
  ratios.sort((x, y) => x - y)
  const whole = 100 * (ratios[ratios.length >> 1] - 1)
  report('  whole rounds of the device over the product, middle of pairs', whole, '%', most, { ratios })
}

const all = await builds()
const [check] = await verifyRates(all, 'int8', 32768)
await memory(check)
await verifyRates(all, 'fp32', 8192)
await besideTheTile(all)
await productRates(all)
for (const build of all) await overhead(build, build.engine === 'wasm' ? { atMost: 15 } : null)

const number = (value) => value.toFixed(value < 10 ? 2 : 1)
for (const { what, figure, unit, target, met, median, wall } of rows) {
  const bound =
    target === null
      ? ''
      : `  target ${target.atLeast === undefined ? `<= ${target.atMost}` : `>= ${target.atLeast}`}  ${met ? 'met' : 'MISSED'}`
  const clock = wall === undefined ? '' : `, by the wall clock ${number(wall)}`
  const middle = median === undefined ? '' : `  (median ${number(median)}${clock})`
  console.log(`${what.padEnd(72)} ${number(figure).padStart(8)} ${unit}${bound}${middle}`)
}
keepResult('engine', `node bench/engine.mjs${quick ? ' --quick' : ''}`, { rows })
process.exitCode = rows.every(({ met }) => met !== false) ? 0 : 1
