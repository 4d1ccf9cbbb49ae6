#!/usr/bin/env node
// How large a mainnet certificate is and what its check costs. Run `node scripts/build.mjs` first, then
//   node bench/certificate.mjs [FILE]            the default is the certificate of a real H200
//   node bench/certificate.mjs --against FOLDER  another checkout, built, takes turns with this one
// By the wall clock on all cores; and in seconds of processor time on one core, user and system, with each build of the
// kernels: the whole command from the shell's view, and inside of a process the part from the first byte of the file to its
// last opening. Builds take turns, so that other work on the machine hits all of them; each figure is the best, with the
// median beside it. Results go to bench/results/certificate.json.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { loadNativeKernels } from '../dist/drivers/system/nativeKernels.js'
import { keepResult } from './support/keepResult.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const { values, positionals } = parseArgs({ options: { against: { type: 'string' } }, allowPositionals: true })
const file = positionals[0] ?? join(root, 'bench/fixtures/h200-mainnet.json')
const trust = /"keyid":"([0-9a-f]{64})"/.exec(readFileSync(file, 'latin1'))[1]
const home = mkdtempSync(join(tmpdir(), 'touchstone-bench-'))
const TURNS = 5

const checkOf = (folder) => [join(folder, 'dist/main/touchstone.js'), 'check', file, '--trust', trust, '--json']
const PART = [join(root, 'bench/support/checkCertificate.mjs'), file]

function spawned(command, args, more = {}) {
  const env = { ...process.env, TOUCHSTONE_HOME: home, ...more }
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8', env })
  if (status !== 0) throw new Error(`the certificate does not hold: ${stdout}${stderr}`)
  return { stdout, stderr }
}

/** The first core that this process may use. */
const CORE = /^Cpus_allowed_list:\s*(\d+)/m.exec(readFileSync('/proc/self/status', 'utf8'))[1]

/** On one core, with one build of the kernels: what was said, and the seconds that the shell counts. */
function onOneCore(engine, args) {
  const line = 'TIMEFORMAT="%U %S"; time taskset -c "$0" "$@"'
  const { stdout, stderr } = spawned('bash', ['-c', line, CORE, process.execPath, ...args], {
    TOUCHSTONE_ENGINE: engine,
    LC_ALL: 'C',
  })
  const [user, system] = stderr.trim().split('\n').at(-1).split(' ').map(Number)
  return { stdout, seconds: Number((user + system).toFixed(3)) }
}

/** Every build that this machine runs, and what the whole command may cost with it. */
async function builds() {
  const all = [{ engine: 'wasm', atMost: null }]
  for (const [engine, atMost] of [
    ['avx2', 1.8],
    ['avx512', 1.1],
  ])
    if ((await loadNativeKernels(join(root, `kernels/built/native-${engine}.so`))).supported)
      all.push({ engine, atMost })
  return all
}

const figureOf = (seconds, atMost = null) => {
  const sorted = seconds.toSorted((a, b) => a - b)
  const [figure, median] = [sorted[0], sorted[sorted.length >> 1]]
  return atMost === null ? { figure, median } : { figure, median, target: { atMost }, met: figure <= atMost }
}

function wallClock() {
  const runs = Array.from({ length: 3 }, () => {
    const began = performance.now()
    const { stdout } = spawned(process.execPath, checkOf(root))
    return { seconds: (performance.now() - began) / 1000, openings: JSON.parse(stdout).openingsChecked }
  })
  const seconds = runs.map((run) => run.seconds)
  return { checkSeconds: figureOf(seconds, 6), openings: runs[0].openings }
}

async function oneCore() {
  const all = (await builds()).map((build) => ({ ...build, command: [], part: [], other: [] }))
  for (let turn = 0; turn < TURNS; turn++)
    for (const { engine, command, part, other } of all) {
      command.push(onOneCore(engine, checkOf(root)).seconds)
      part.push(Number(onOneCore(engine, PART).stdout))
      if (values.against !== undefined) other.push(onOneCore(engine, checkOf(resolve(values.against))).seconds)
    }
  return all.map(({ engine, atMost, command, part, other }) => ({
    engine,
    command: figureOf(command, atMost),
    readAndVerify: figureOf(part),
    ...(other.length > 0 && { against: figureOf(other) }),
  }))
}

try {
  const { size } = statSync(file)
  const bytes = { figure: size, target: { atMost: 2_000_000 }, met: size <= 2_000_000 }
  const result = { bytes, ...wallClock(), processorSecondsOnOneCore: await oneCore() }
  console.log(JSON.stringify(keepResult('certificate', 'node bench/certificate.mjs', result), null, 2))
  const bounds = [result.bytes, result.checkSeconds, ...result.processorSecondsOnOneCore.map(({ command }) => command)]
  process.exitCode = bounds.every(({ met }) => met !== false) ? 0 : 1
} finally {
  rmSync(home, { recursive: true, force: true })
}
