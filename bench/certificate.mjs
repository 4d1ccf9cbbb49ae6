#!/usr/bin/env node
// How large a mainnet certificate is and how long its whole check takes: `node bench/certificate.mjs [FILE]`.
// The default file is the certificate of a real H200, made by `touchstone verify` on that card.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { keepResult } from './support/keepResult.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const file = process.argv[2] ?? join(root, 'bench/fixtures/h200-mainnet.json')
const trust = /"keyid":"([0-9a-f]{64})"/.exec(readFileSync(file, 'latin1'))[1]
const home = mkdtempSync(join(tmpdir(), 'touchstone-bench-'))
const runs = []
try {
  for (let turn = 0; turn < 3; turn++) {
    const began = performance.now()
    const args = [join(root, 'dist/main/touchstone.js'), 'check', file, '--trust', trust, '--json']
    const { status, stdout } = spawnSync(process.execPath, args, {
      encoding: 'utf8',
      env: { ...process.env, TOUCHSTONE_HOME: home },
    })
    const outcome = JSON.parse(stdout)
    if (status !== 0) throw new Error(`the certificate does not hold: ${stdout}`)
    runs.push({ seconds: (performance.now() - began) / 1000, openings: outcome.openingsChecked })
  }
} finally {
  rmSync(home, { recursive: true, force: true })
}
const seconds = Math.min(...runs.map((run) => run.seconds))
const { size } = statSync(file)
const result = keepResult('certificate', 'node bench/certificate.mjs', {
  bytes: { figure: size, target: { atMost: 2_000_000 }, met: size <= 2_000_000 },
  checkSeconds: { figure: seconds, target: { atMost: 6 }, met: seconds <= 6, all: runs.map((run) => run.seconds) },
  openings: runs[0].openings,
})
console.log(JSON.stringify(result, null, 2))
