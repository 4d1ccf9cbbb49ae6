#!/usr/bin/env node
// Two builds packed by pack.mjs with ratioRows.ts, in turns on one card: node bench/gpu/pairs.mjs OLD NEW [PAIRS] [ROW…].
// Prints for each row the median ratio of both and their difference in points; writes gpu-pairs.json to OUT (or here).
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

const [before, after, pairs = '5', ...given] = process.argv.slice(2)
const rows = given.length > 0 ? given : ['int8:32768', 'fp8:16384', 'bf16:16384', 'fp16:32768']
const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1]

function measure(folder) {
  const { stdout, status } = spawnSync(process.execPath, [join(folder, 'ratioRows.js'), ...rows], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`${folder} ended with ${status}`)
  return JSON.parse(stdout.trim().split('\n').at(-1))
}

const runs = []
for (let pair = 0; pair < Number(pairs); pair++) {
  // Old first in one pair and new first in the next, so that a card that warms up favours neither.
  const order = pair % 2 === 0 ? ['before', 'after'] : ['after', 'before']
  for (const which of order) {
    runs.push({ pair, which, rows: measure(which === 'before' ? before : after) })
    console.log(JSON.stringify(runs.at(-1)))
  }
}
const ratios = (which, row) =>
  runs.filter((run) => run.which === which).map((run) => run.rows.find((entry) => entry.row === row).ratio)
const table = rows.map((row) => {
  const [old, now] = [median(ratios('before', row)), median(ratios('after', row))]
  return { row, before: old, after: now, points: Math.round(1000 * (now - old)) / 10 }
})
console.table(table)
const command = 'node bench/gpu/pairs.mjs OLD NEW'
writeFileSync(
  join(process.env.OUT ?? '.', 'gpu-pairs.json'),
  JSON.stringify({ command, date: new Date().toISOString(), table, runs }, null, 1),
)
