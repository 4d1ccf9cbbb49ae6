#!/usr/bin/env node
// One validator process, then two, on one PostgreSQL, with boxes that only take time: how much faster is a round, and is
// any box verified twice?
//   node scripts/build.mjs && node bench/fleetTwo.mjs [boxes] [run ms]      default 120 boxes of 400 ms, 4 at a time each
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { fileURLToPath } from 'node:url'
import { openPostgres } from '../dist/drivers/store/openPostgres.js'
import { startPostgres } from './support/postgres.mjs'

const [boxes, runMs] = [Number(process.argv[2] ?? 120), Number(process.argv[3] ?? 400)]
const script = fileURLToPath(new URL('../test/support/fleetChild.mjs', import.meta.url))
const server = await startPostgres()

/** Seconds from the first result of the round to its last, as the database saw them. */
async function round(processes) {
  const url = await server.database(`bench${processes}`)
  const store = await openPostgres({ url })
  for (let i = 0; i < boxes; i++)
    await store.putBox({ id: `box-${i}`, address: `ssh://box-${i}:22`, provider: 'p', claim: null, allocated: false })
  // The jobs lie ready but are due only when every process is up.
  const jobs = Array.from({ length: boxes }, (_, i) => ({
    boxId: `box-${i}`,
    round: 1,
    kind: 'full',
    reason: 'round',
    cohort: i,
    delayMs: 10_000,
  }))
  await store.openRound({ number: 1, height: null, jobs })
  const children = Array.from({ length: processes }, (_, i) =>
    spawn(process.execPath, [script, url, `v${i}`, String(runMs), '4'], { stdio: ['ignore', 'ignore', 'inherit'] }),
  )
  await Promise.all(children.map((child) => once(child, 'exit')))
  const times = []
  let most = 0
  for (let i = 0; i < boxes; i++) {
    const { items } = await store.history(`box-${i}`, { after: null, limit: 10 })
    most = Math.max(most, items.length)
    times.push(...items.map(({ at }) => Date.parse(at)))
  }
  await store.close()
  const first = Math.min(...times) - runMs
  return { seconds: (Math.max(...times) - first) / 1000, results: times.length, mostResultsOfOneBox: most }
}

const one = await round(1)
const two = await round(2)
await server.end()
const report = {
  command: `node bench/fleetTwo.mjs ${boxes} ${runMs}`,
  date: new Date().toISOString(),
  cpu: cpus()[0]?.model,
  cores: cpus().length,
  node: process.version,
  load: loadavg(),
  one,
  two,
  speedup: one.seconds / two.seconds,
}
writeFileSync(new URL('./results/fleetTwo.json', import.meta.url), `${JSON.stringify(report, null, 2)}\n`)
console.log(JSON.stringify(report, null, 2))
