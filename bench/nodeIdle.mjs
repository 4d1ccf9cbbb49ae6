#!/usr/bin/env node
// Memory and processor time of a devnet node that makes a block a second and has nothing else to do. Run
//   node scripts/build.mjs && node bench/nodeIdle.mjs
// After 10 s of starting it is watched for a minute. Results go to bench/results/nodeIdle.json.
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { keepResult } from './support/keepResult.mjs'

const SECONDS = Number(process.argv[2] ?? 60)
const [MOST_MB, MOST_SHARE] = [200, 0.05]
const TICKS = 100
const folder = mkdtempSync(join(tmpdir(), 'touchstone-node-idle-'))
const program = fileURLToPath(new URL('../dist/main/touchstone.js', import.meta.url))
const args = ['node', '--data', folder, '--host', '127.0.0.1', '--port', '0', '--no-discovery', '--json']
const child = spawn(process.execPath, [program, ...args], { stdio: 'ignore' })

/** Processor seconds and resident megabytes. */
function look() {
  const fields = readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ')[1].split(' ')
  const resident = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))[1]
  return { cpu: (Number(fields[11]) + Number(fields[12])) / TICKS, mb: Number(resident) / 1024 }
}

await delay(10_000)
const before = look()
let mb = before.mb
for (let second = 0; second < SECONDS; second++) {
  await delay(1_000)
  mb = Math.max(mb, look().mb)
}
const share = (look().cpu - before.cpu) / SECONDS
child.kill()
rmSync(folder, { recursive: true, force: true })
console.log(
  `${mb.toFixed(0)} MB (at most ${MOST_MB}), ${(100 * share).toFixed(1)} % of one core (at most ${100 * MOST_SHARE} %)`,
)
const target = { mostMb: MOST_MB, mostShare: MOST_SHARE }
if (process.argv[2] === undefined)
  keepResult('nodeIdle', 'node bench/nodeIdle.mjs', { mb, share, target, met: mb < MOST_MB && share < MOST_SHARE })
