#!/usr/bin/env node
// What SSH adds to a run: `node bench/ssh.mjs [pairs]` verifies this machine's CPU with the devnet preset, in turns as a
// child process and over a real OpenSSH on loopback with the release already there, and compares medians. Needs sshd.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startLoopbackBox } from './support/sshLoopback.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
// None measures the connection alone: on a busy machine the runs vary by more than SSH adds to them.
const pairs = Number(process.argv[2] ?? 3)
const folder = mkdtempSync(join(tmpdir(), 'touchstone-bench-ssh-'))
const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]

const box = await startLoopbackBox({ folder: join(folder, 'box'), hasNode: true })
if (box.whyNotOpenSsh !== null) throw new Error(`${box.whyNotOpenSsh}: scripts/ciOpenssh.sh installs OpenSSH`)

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
    rates: report.judgement.devices[0].rates,
    uploadedBytes: report.access.uploadedBytes,
  }
}

/** Connecting, finding the release there unchanged, starting the prover and saying goodbye: all that SSH adds to a run. */
async function connectionSeconds() {
  const { connectSsh } = await import('../dist/drivers/remote/ssh/connectSsh.js')
  const { releaseFlavours } = await import('../dist/drivers/remote/releaseFlavours.js')
  const signal = new AbortController().signal
  const options = {
    auth: { keyFiles: [{ path: box.identity }] },
    knownHostsFiles: [],
    ownKnownHostsFile: join(folder, 'state', 'known_hosts'),
    onFirstUse: () => false,
    flavours: await releaseFlavours(),
    keep: true,
    proverArguments: ['--devices', 'cpu'],
  }
  const times = []
  for (let turn = 0; turn < 11; turn++) {
    const began = performance.now()
    const held = await connectSsh(box.address, options, signal)
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

function compare(here, there) {
  if (there.some(({ uploadedBytes }) => uploadedBytes !== '0')) throw new Error('the release was not kept')
  const more = medianOf(there, (run) => run.wallSeconds) - medianOf(here, (run) => run.wallSeconds)
  const ratio = (name) => medianOf(there, (run) => run.rates[name]) / medianOf(here, (run) => run.rates[name])
  const ratios = Object.fromEntries(Object.keys(here[0].rates).map((name) => [name, ratio(name)]))
  const within = Object.values(ratios).every((value) => Math.abs(value - 1) <= 0.03)
  return {
    moreSeconds: { figure: more, target: { atMost: 1.5 }, met: more <= 1.5 },
    rateRatios: { figure: ratios, target: { within: 0.03 }, met: within },
    wallSeconds: { here: here.map((run) => run.wallSeconds), there: there.map((run) => run.wallSeconds) },
  }
}

try {
  const address = [box.address]
  const first = verify(address, 'tiny')
  const connecting = await connectionSeconds()
  const here = []
  const there = []
  for (let turn = 0; turn < pairs; turn++) {
    here.push(verify([], 'devnet'))
    there.push(verify(address, 'devnet'))
  }
  const seconds = median(connecting)
  const result = {
    command: `node bench/ssh.mjs ${pairs}`,
    date: new Date().toISOString(),
    cpu: cpus()[0].model,
    cores: availableParallelism(),
    load: loadavg(),
    connectionSeconds: { figure: seconds, target: { atMost: 1.5 }, met: seconds <= 1.5, all: connecting },
    firstUploadBytes: Number(first.uploadedBytes),
    ...(pairs === 0 ? {} : compare(here, there)),
  }
  console.log(JSON.stringify(result, null, 2))
  mkdirSync(join(root, 'bench/results'), { recursive: true })
  writeFileSync(join(root, 'bench/results/ssh.json'), `${JSON.stringify(result, null, 2)}\n`)
} finally {
  await box.close()
  rmSync(folder, { recursive: true, force: true })
}
