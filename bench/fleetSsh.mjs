#!/usr/bin/env node
// A whole fleet in one window, for real: `touchstone validator` with an embedded store, and so many boxes over SSH, each a
// process of its own behind a real sshd on loopback. Boxes share the cores of this machine, one core each, and run the tiny
// preset on it: what is looked at is the validator, not their speed. Host memory is not measured. Two fleet rounds; how many earned in each, seconds from
// its opening to the end of its window, how results ended, and the most memory that the validator had.
//   node scripts/build.mjs && node bench/fleetSsh.mjs [boxes]      default 32; TOUCHSTONE_SSHD names another sshd
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import net from 'node:net'
import { availableParallelism, cpus, loadavg, tmpdir, userInfo } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { openSshKey } from '../dist/drivers/remote/leased/openSshKey.js'

const ROUNDS = 2
const boxes = Number(process.argv[2] ?? 32)
const cores = availableParallelism()
const program = fileURLToPath(new URL('../dist/main/touchstone.js', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'touchstone-fleet-ssh-'))
const started = []

function file(name, text) {
  const path = join(folder, name)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text, { mode: 0o600 })
  return path
}

async function freePort() {
  const server = net.createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  await once(server, 'close')
  return port
}

/** For each prover: the part of host memory asks for gigabytes, which this machine does not have for all of them. */
const DATA_BYTES = 1.2e9

/** So many ports sshd listens on. */
const PORTS = 16

/** Boxes with one core for all of them, each with a port and a home of its own. */
async function startSshd(number, count, authorizedKeys) {
  const ports = []
  while (ports.length < count) ports.push(await freePort())
  const path = `${dirname(process.execPath)}:${process.env.PATH}`
  const settings = [
    ...ports.map((port) => `ListenAddress 127.0.0.1:${port}`),
    `HostKey ${file(`sshd${number}/host_key`, openSshKey(randomBytes(32)).privateKey)}`,
    `AuthorizedKeysFile ${authorizedKeys}`,
    'PidFile none',
    'UsePAM no',
    'StrictModes no',
    'PermitRootLogin prohibit-password',
    'MaxStartups 1024',
    'Subsystem sftp internal-sftp',
    ...ports.flatMap((port) => {
      const home = join(folder, 'homes', `${port}`)
      mkdirSync(home, { recursive: true })
      return [`Match LocalPort ${port}`, `  SetEnv "HOME=${home}" "PATH=${path}"`]
    }),
  ]
  const sshd = process.env.TOUCHSTONE_SSHD || '/usr/sbin/sshd'
  const config = file(`sshd${number}/config`, `${settings.join('\n')}\n`)
  const words = [`--data=${DATA_BYTES}`, 'taskset', '-c', `${number % cores}`, sshd, '-D', '-e', '-f', config]
  const daemon = spawn('prlimit', words, { stdio: ['ignore', 'ignore', 'pipe'] })
  started.push(daemon)
  await once(daemon.stderr, 'data')
  daemon.stderr.resume()
  return ports
}

if (process.getuid?.() === 0) mkdirSync('/run/sshd', { recursive: true })
const own = openSshKey(randomBytes(32))
const identity = file('id', own.privateKey)
const authorizedKeys = file('authorized_keys', own.publicLine)
const addresses = []
for (let number = 0; addresses.length < boxes; number++) {
  const share = Math.min(PORTS, Math.ceil(boxes / cores), boxes - addresses.length)
  addresses.push(...(await startSshd(number, share, authorizedKeys)))
}
const listed = addresses.map((port, i) => {
  return `  - { id: box-${i}, address: "ssh://${userInfo().username}@127.0.0.1:${port}", provider: p }`
})
const config = file(
  'validator.yaml',
  `store: embedded:${join(folder, 'store')}
preset: tiny
devices: cpu
identity: ${identity}
rounds: { everyMinutes: ${process.argv[3] ?? 4}, maxDelaySeconds: 0, probes: false }
work: { concurrency: ${Math.max(boxes, 2)}, cohortSize: ${Math.max(boxes, 2)} }
api: { port: ${await freePort()}, ownMachine: true }
boxes:
${listed.join('\n')}
`,
)

const env = { ...process.env, TOUCHSTONE_HOME: join(folder, 'state') }
const validator = spawn(process.execPath, [program, 'validator', '--config', config], {
  env,
  stdio: ['ignore', 'pipe', 'inherit'],
})
started.push(validator)
validator.once('exit', (code, signal) => console.error('the validator has ended', { code, signal }))
const opened = new Map()
const rounds = []
const outcomes = new Map()
let peakMiB = 0
const watch = setInterval(() => {
  const [, kib] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${validator.pid}/status`, 'utf8')) ?? [0, 0]
  peakMiB = Math.max(peakMiB, Math.round(kib / 1024))
}, 1000)
try {
  for await (const text of createInterface({ input: validator.stdout })) {
    const line = JSON.parse(text)
    if (process.env.SHOW) console.error(text)
    if (line.msg === 'round opened') opened.set(line.round, performance.now())
    if (line.outcome) {
      const ended = `round ${line.round}: ${line.code ?? line.outcome}`
      outcomes.set(ended, (outcomes.get(ended) ?? 0) + 1)
    }
    if (line.msg !== 'window over') continue
    const seconds = (performance.now() - opened.get(line.round)) / 1000
    rounds.push({ round: line.round, earned: line.earned, seconds: Math.round(seconds) })
    if (rounds.length === ROUNDS) break
  }
} finally {
  clearInterval(watch)
  for (const child of started.reverse()) {
    child.kill('SIGTERM')
    await Promise.race([once(child, 'exit'), sleep(10_000)])
  }
  rmSync(folder, { recursive: true, force: true })
}
const told = { boxes, rounds, outcomes: Object.fromEntries(outcomes), validatorPeakMiB: peakMiB }
const report = {
  command: `node bench/fleetSsh.mjs ${boxes}`,
  cpu: cpus()[0]?.model,
  cores,
  node: process.version,
  load: loadavg(),
  ...told,
}
console.log(JSON.stringify(report, null, 2))
process.exit(0)
