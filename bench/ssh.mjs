#!/usr/bin/env node
// What SSH adds to a run: `node bench/ssh.mjs [pairs]` verifies this machine's CPU with the devnet preset, in turns as a
// child process and over a real OpenSSH on loopback with the release already there, and compares medians. Needs sshd.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import net from 'node:net'
import { availableParallelism, cpus, loadavg, tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const SSHD = '/usr/sbin/sshd'
if (!existsSync(SSHD)) throw new Error(`${SSHD} is not installed: scripts/ciOpenssh.sh installs it`)
const root = fileURLToPath(new URL('..', import.meta.url))
const pairs = Number(process.argv[2] ?? 3)
const folder = mkdtempSync(join(tmpdir(), 'touchstone-bench-ssh-'))
const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]

const port = await new Promise((resolve) => {
  const probe = net.createServer().listen(0, '127.0.0.1', () => {
    const { port: free } = probe.address()
    probe.close(() => resolve(free))
  })
})
for (const name of ['host', 'id']) spawnSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(folder, name)])
mkdirSync(join(folder, 'home'))
if (process.getuid() === 0) mkdirSync('/run/sshd', { recursive: true })
const config = [
  `ListenAddress 127.0.0.1:${port}`,
  `HostKey ${join(folder, 'host')}`,
  `AuthorizedKeysFile ${join(folder, 'id.pub')}`,
  'PidFile none',
  'UsePAM no',
  'StrictModes no',
  'Subsystem sftp internal-sftp',
  `SetEnv HOME=${join(folder, 'home')}`,
]
writeFileSync(join(folder, 'sshd_config'), `${config.join('\n')}\n`)
const daemon = spawn(SSHD, ['-D', '-e', '-f', join(folder, 'sshd_config')], { stdio: ['ignore', 'ignore', 'pipe'] })
await new Promise((resolve) => daemon.stderr.on('data', (chunk) => chunk.includes('listening') && resolve()))

function verify(target) {
  const out = join(folder, 'certificate.json')
  const flags = ['--preset', 'devnet', '--devices', 'cpu', '--json', '--out', out, '--identity', join(folder, 'id')]
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

const here = []
const there = []
try {
  const address = [`ssh://${userInfo().username}@127.0.0.1:${port}`]
  const first = verify(address)
  for (let turn = 0; turn < pairs; turn++) {
    here.push(verify([]))
    there.push(verify(address))
  }
  if (there.some(({ uploadedBytes }) => uploadedBytes !== '0')) throw new Error('the release was not kept')
  const more = median(there.map((run) => run.wallSeconds)) - median(here.map((run) => run.wallSeconds))
  const ratio = (name) => median(there.map((run) => run.rates[name])) / median(here.map((run) => run.rates[name]))
  const ratios = Object.fromEntries(Object.keys(here[0].rates).map((name) => [name, ratio(name)]))
  const within = Object.values(ratios).every((value) => Math.abs(value - 1) <= 0.03)
  const result = {
    command: `node bench/ssh.mjs ${pairs}`,
    date: new Date().toISOString(),
    cpu: cpus()[0].model,
    cores: availableParallelism(),
    load: loadavg(),
    moreSeconds: { figure: more, target: { atMost: 1.5 }, met: more <= 1.5 },
    rateRatios: { figure: ratios, target: { within: 0.03 }, met: within },
    firstUploadBytes: Number(first.uploadedBytes),
    wallSeconds: { here: here.map((run) => run.wallSeconds), there: there.map((run) => run.wallSeconds) },
  }
  console.log(JSON.stringify(result, null, 2))
  mkdirSync(join(root, 'bench/results'), { recursive: true })
  writeFileSync(join(root, 'bench/results/ssh.json'), `${JSON.stringify(result, null, 2)}\n`)
} finally {
  daemon.kill('SIGTERM')
  rmSync(folder, { recursive: true, force: true })
}
