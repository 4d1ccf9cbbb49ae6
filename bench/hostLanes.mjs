#!/usr/bin/env node
// What one core of this machine shows in lanes of a processor (docs/spec/proof-of-gpu.md §12, docs/adr/0032): our kernels,
// and others that walk several lanes at once, compiled here by cc. GB/s looked up, the best of three.
//   npm run build && node bench/hostLanes.mjs
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ROUND_BYTES, ROUNDS_PER_STEP } from '../dist/core/params/hostParts.js'
import { chooseRounds, openRounds } from '../dist/drivers/host/hostRounds.js'
import { laneOfRounds, laneStart } from '../dist/drivers/host/hostWalk.js'

const STEPS = 100
const nonce = new Uint8Array(32)

function rateOf(rounds) {
  const walk = laneOfRounds(rounds, nonce, 0)
  const seconds = [1, 2, 3].map(() => {
    const from = performance.now()
    walk(laneStart(nonce, 0), STEPS)
    return (performance.now() - from) / 1000
  })
  return (STEPS * ROUNDS_PER_STEP * ROUND_BYTES) / 1e9 / Math.min(...seconds)
}

const start = await chooseRounds()
const rows = [['WebAssembly', 1, rateOf(await openRounds({ ...start, native: null }))]]
if (start.native) rows.unshift([`native (${start.native.name})`, 1, rateOf(await openRounds(start))])

const file = (name) => fileURLToPath(new URL(`support/${name}`, import.meta.url))
const canRunByHand = start.native?.name === 'AVX-512'
const folder = mkdtempSync(join(tmpdir(), 'touchstone-lanes-'))
for (const [words, flags] of [
  ['for this processor', ['-march=native', ...(canRunByHand ? ['-no-pie', '-DTWO_LANES', file('twoLanes.s')] : [])]],
  ['without vectors', ['-fno-tree-vectorize']],
]) {
  const program = join(folder, 'rivals')
  const built = spawnSync('cc', ['-O3', ...flags, file('laneRivals.c'), '-o', program], { encoding: 'utf8' })
  if (built.status !== 0) {
    console.log(`skipped what cc would compile ${words}: ${built.error?.message ?? built.stderr}`)
    continue
  }
  for (const line of spawnSync(program, { encoding: 'utf8' }).stdout.trim().split('\n')) {
    const [name, lanes, rate] = line.split('\t')
    rows.push([`${name} (cc, ${words})`, Number(lanes), Number(rate)])
  }
}
rmSync(folder, { recursive: true })

console.log(`${cpus()[0].model}, node ${process.version}`)
const ours = rows[0][2]
for (const [name, lanes, rate] of rows)
  console.log(`${name.padEnd(64)} ${lanes} lane(s)  ${rate.toFixed(1).padStart(5)} GB/s  ${(rate / ours).toFixed(2)}`)
