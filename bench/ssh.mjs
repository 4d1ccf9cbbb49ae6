#!/usr/bin/env node
// What SSH adds to a run: `node bench/ssh.mjs [pairs] [cycles] [seconds]`, with a real OpenSSH on loopback that has the
// release already. Needs sshd. Three things:
//   the connection alone, eleven times;
//   whole runs of the devnet preset, in turns as a child process and over SSH, by the wall clock (`pairs` of them);
//   rates: parts of devnet's sizes with one plan for both sides, in turns (`cycles` of four turns each, parts of `seconds`).
// Whole runs do not compare rates: each calibrates anew, and a machine with other work gives them other sizes.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startLoopbackBox } from './support/sshLoopback.mjs'
import { compareRates } from './support/sshRates.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
// None measures the connection alone: on a busy machine the runs vary by more than SSH adds to them.
const pairs = Number(process.argv[2] ?? 2)
const cycles = Number(process.argv[3] ?? 8)
const partSeconds = Number(process.argv[4] ?? 1)
const folder = mkdtempSync(join(tmpdir(), 'touchstone-bench-ssh-'))
const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]

const box = await startLoopbackBox({ folder: join(folder, 'box'), hasNode: true })
if (box.whyNotOpenSsh !== null) throw new Error(`${box.whyNotOpenSsh}: install openssh-server`)

function verify(target, preset) {
  const out = join(folder, 'certificate.json')
  const flags = ['--preset', preset, '--devices', 'cpu', '--json', '--out', out, '--identity', box.identity]
  const began = performance.now()
  const args = [join(root, 'dist/main/touchstone.js'), 'verify', ...target, ...flags]
  const env = { ...process.env, TOUCHSTONE_HOME: join(folder, 'state') }
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', env })
  if (status !== 0) throw new Error(`the run was not genuine (${status}): ${stderr}`)
  const report = JSON.parse(stdout)
  return {
    wallSeconds: (performance.now() - began) / 1000,
    runSeconds: report.seconds,
    uploadedBytes: report.access.uploadedBytes,
  }
}

async function connect() {
  const { connectSsh } = await import('../dist/drivers/remote/ssh/connectSsh.js')
  const { releaseFlavours } = await import('../dist/drivers/remote/readRelease.js')
  const options = {
    auth: { keyFiles: [{ path: box.identity }] },
    knownHostsFiles: [],
    ownKnownHostsFile: join(folder, 'state', 'known_hosts'),
    onFirstUse: () => false,
    flavours: await releaseFlavours(),
    keep: true,
    proverArguments: ['--devices', 'cpu'],
  }
  return await connectSsh(box.address, options, new AbortController().signal)
}

/** Connecting, finding the release there unchanged, starting the prover and saying goodbye: all that SSH adds to a run. */
async function connectionSeconds() {
  const signal = new AbortController().signal
  const times = []
  for (let turn = 0; turn < 11; turn++) {
    const began = performance.now()
    const held = await connect()
    const prover = await held.start(signal)
    const started = performance.now()
    await prover.stop()
    const stopped = performance.now()
    await held.close()
    times.push((started - began + (performance.now() - stopped)) / 1000)
  }
  return times
}

const medianOf = (runs, of) => median(runs.map(of))

async function rateRatios() {
  const { precisions, ...more } = await compareRates({ connectThere: connect, folder, cycles, partSeconds })
  const figure = Object.fromEntries(Object.entries(precisions).map(([name, { ratio }]) => [name, ratio]))
  const met = Object.values(figure).every((value) => Math.abs(value - 1) <= 0.03)
  return { rateRatios: { figure, target: { within: 0.03 }, met, load: loadavg(), precisions, ...more } }
}

function compare(here, there) {
  if (there.some(({ uploadedBytes }) => uploadedBytes !== '0')) throw new Error('the release was not kept')
  const more = medianOf(there, (run) => run.wallSeconds) - medianOf(here, (run) => run.wallSeconds)
  return {
    moreSeconds: { figure: more, target: { atMost: 1.5 }, met: more <= 1.5 },
    wallSeconds: { here: here.map((run) => run.wallSeconds), there: there.map((run) => run.wallSeconds) },
  }
}

try {
  const address = [box.address]
  const first = verify(address, 'tiny')
  const connecting = await connectionSeconds()
  const ratios = cycles === 0 ? {} : await rateRatios()
  const here = []
  const there = []
  for (let turn = 0; turn < pairs; turn++) {
    here.push(verify([], 'devnet'))
    there.push(verify(address, 'devnet'))
  }
  const seconds = median(connecting)
  const result = {
    command: `node bench/ssh.mjs ${pairs} ${cycles} ${partSeconds}`,
    date: new Date().toISOString(),
    cpu: cpus()[0].model,
    cores: availableParallelism(),
    load: loadavg(),
    connectionSeconds: { figure: seconds, target: { atMost: 1.5 }, met: seconds <= 1.5, all: connecting },
    firstUploadBytes: Number(first.uploadedBytes),
    ...(pairs === 0 ? {} : compare(here, there)),
    ...ratios,
  }
  console.log(JSON.stringify(result, null, 2))
  mkdirSync(join(root, 'bench/results'), { recursive: true })
  writeFileSync(join(root, 'bench/results/ssh.json'), `${JSON.stringify(result, null, 2)}\n`)
} finally {
  await box.close()
  rmSync(folder, { recursive: true, force: true })
}
