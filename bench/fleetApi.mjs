#!/usr/bin/env node
// The HTTP API over 5,000 boxes at 50 requests a second for a while, over a real socket, from another process.
//   node scripts/build.mjs && node bench/fleetApi.mjs [seconds] [embedded|postgres]      default 30 embedded
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, getPriority, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { serve } from '@hono/node-server'
import { createApi } from '../dist/apps/api/createApi.js'
import { createLiveRuns } from '../dist/apps/shared/createLiveRuns.js'
import { openEmbedded } from '../dist/drivers/store/openEmbedded.js'
import { openPostgres } from '../dist/drivers/store/openPostgres.js'
import { systemClock } from '../dist/drivers/system/systemClock.js'
import { textMetrics } from '../dist/drivers/system/textMetrics.js'
import { startPostgres } from './support/postgres.mjs'

const [seconds, kind] = [Number(process.argv[2] ?? 30), process.argv[3] ?? 'embedded']
const BOXES = 5000
const RATE = 50
const folder = mkdtempSync(join(tmpdir(), 'touchstone-bench-'))
const server = kind === 'postgres' ? await startPostgres() : null
const store = server
  ? await openPostgres({ url: await server.database('bench') })
  : await openEmbedded({ folder: join(folder, 'data') })

/** Through the store's own restore: 5,000 boxes, each with one result of 15 figures and a certificate. */
async function* rows() {
  yield JSON.stringify({ format: 'touchstone-store-1' })
  const at = new Date().toISOString()
  const row = (table, value) => JSON.stringify({ table, row: value })
  const id = (i) => `box-${String(i).padStart(5, '0')}`
  const common = { terms: [], removed_at: null, claim: null, allocated: false, added_at: at, scored_at: at }
  for (let i = 1; i <= BOXES; i++)
    yield row('boxes', {
      ...common,
      id: id(i),
      address: 'local',
      provider: `provider-${i % 100}`,
      status: i % 20 === 0 ? 'failed' : 'verified',
      score: i,
      failures_in_row: 0,
      failures_total: 0,
      busy_in_row: 0,
      verified_total: 1,
      last_result: i,
      last_accepted: i,
      inventory: { program: 'p', devices: [], host: {} },
    })
  for (let i = 1; i <= BOXES; i++)
    yield row('results', {
      id: i,
      job_id: i,
      attempt: 1,
      round: 1,
      box_id: id(i),
      provider: `provider-${i % 100}`,
      kind: 'full',
      reason: 'round',
      outcome: 'accepted',
      run_id: String(i).padStart(32, '0'),
      started_at: at,
      seconds: 40,
      score: i,
      judgement: { outcome: 'accepted', devices: [] },
      marks: [],
      at,
    })
  for (let i = 1; i <= BOXES; i++)
    for (let f = 0; f < 15; f++) yield row('figures', { result_id: i, device: 0, name: `figure.${f}`, value: i * f })
}
process.stderr.write(`${await store.load(rows())} rows\n`)

const api = createApi({
  store,
  live: createLiveRuns(),
  metrics: textMetrics([]),
  clock: systemClock,
  decay: { freshMs: 3_600_000, halfLifeMs: 3_600_000 },
  self: '0'.repeat(64),
  writers: [],
  requestsPerMinute: 1e6,
  program: 'touchstone bench',
  ensureForeign: async () => {},
  clientOf: () => 'bench',
})
const http = serve({ fetch: api.fetch, hostname: '127.0.0.1', port: 0 })
await once(http, 'listening')
const { port } = http.address()

// Ten seconds at the same rate go before, unmeasured: engines compile what is asked often.
// The asker is a process of its own, so that its work does not count as the API's delay.
const asker = `
const [port, seconds, rate] = process.argv.slice(1).map(Number)
const number = () => 1 + Math.floor(Math.random() * ${BOXES})
const box = () => 'box-' + String(number()).padStart(5, '0')
const paths = [
  () => '/v1/boxes?limit=50&after=' + box(), () => '/v1/boxes/' + box(), () => '/v1/boxes/' + box() + '/history',
  () => '/v1/providers/provider-' + (number() % 100) + '/specs', () => '/v1/statistics', () => '/v1/status',
  () => '/v1/results/' + number(), () => '/v1/boxes?status=failed&limit=20', () => '/health',
]
const times = []
let bad = 0
const ask = async (path) => {
  const began = performance.now()
  const response = await fetch('http://127.0.0.1:' + port + path)
  await response.arrayBuffer()
  times.push(performance.now() - began)
  if (!response.ok) bad++
}
const waiting = []
const began = performance.now()
const warm = 10 * rate
for (let i = 0; i < warm + seconds * rate; i++) {
  if (i === warm) {
    await Promise.all(waiting)
    times.length = 0
  }
  const due = began + (i * 1000) / rate
  const wait = due - performance.now()
  if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait))
  waiting.push(ask(paths[i % paths.length]()))
}
await Promise.all(waiting)
times.sort((a, b) => a - b)
const at = (share) => times[Math.min(times.length - 1, Math.floor(share * times.length))]
console.log(JSON.stringify({ requests: times.length, bad, p50: at(0.5), p90: at(0.9), p99: at(0.99), max: times.at(-1) }))
`
const child = spawn(
  process.execPath,
  ['--input-type=module', '-e', asker, String(port), String(seconds), String(RATE)],
  {
    stdio: ['ignore', 'pipe', 'inherit'],
  },
)
const cpuBegan = process.cpuUsage()
let said = ''
child.stdout.on('data', (chunk) => {
  said += chunk
})
await once(child, 'exit')
const used = process.cpuUsage(cpuBegan)
http.closeAllConnections()
await new Promise((done) => http.close(done))
await store.close()
await server?.end()
rmSync(folder, { recursive: true, force: true })
const latencyMs = JSON.parse(said)
const report = {
  command: `node bench/fleetApi.mjs ${seconds} ${kind}`,
  date: new Date().toISOString(),
  cpu: cpus()[0]?.model,
  cores: cpus().length,
  node: process.version,
  load: loadavg(),
  priority: getPriority(),
  store: kind,
  boxes: BOXES,
  requestsPerSecond: RATE,
  latencyMs,
  cpuMsPerRequest: (used.user + used.system) / 1000 / latencyMs.requests,
}
writeFileSync(new URL(`./results/fleetApi-${kind}.json`, import.meta.url), `${JSON.stringify(report, null, 2)}\n`)
console.log(JSON.stringify(report, null, 2))
