#!/usr/bin/env node
// Results per second of both stores: claim a job, finish it with 12 figures and a certificate of 4 KB, four at a time.
//   node scripts/build.mjs && node bench/fleetStore.mjs [results]      default 2000
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { openEmbedded } from '../dist/drivers/store/openEmbedded.js'
import { openPostgres } from '../dist/drivers/store/openPostgres.js'
import { startPostgres } from './support/postgres.mjs'

const results = Number(process.argv[2] ?? 2000)
const certificate = JSON.stringify({ payload: Buffer.alloc(3000, 7).toString('base64') })
const figures = Array.from({ length: 12 }, (_, i) => ({ device: 0, name: `figure.${i}`, value: i * 1.5 }))
const present = { owes: [], missed: 0, stalls: 0, restMs: null }
const box = {
  status: 'verified',
  score: 5,
  terms: [],
  scored: true,
  failuresInRow: 0,
  busyInRow: 0,
  failed: false,
  ...present,
}

async function rate(store) {
  const ids = Array.from({ length: results }, (_, i) => `box-${i}`)
  for (const id of ids)
    await store.putBox({ id, address: `ssh://${id}:22`, provider: 'p', claim: null, allocated: false })
  const jobs = ids.map((boxId, i) => ({ boxId, round: 1, kind: 'full', reason: 'round', cohort: i, delayMs: 0 }))
  await store.openRound({ number: 1, height: null, jobs })
  const began = performance.now()
  let done = 0
  const work = async (worker) => {
    for (;;) {
      const [job] = await store.takeJobs({ owner: `w${worker}`, holdMs: 60_000, limit: 1 })
      if (!job) return
      const result = {
        outcome: 'accepted',
        code: null,
        detail: null,
        preset: 'tiny',
        runId: `${job.id}`.padStart(32, '0'),
        proverKey: '00',
        startedAt: new Date().toISOString(),
        seconds: 1,
        claimVerdict: null,
        judgement: { outcome: 'accepted' },
        inventory: null,
        figures,
        certificate,
        marks: [],
      }
      await store.finishJob({ job, owner: `w${worker}`, result, box, retryInMs: null, retryAlone: true, followUps: [] })
      done++
    }
  }
  await Promise.all([0, 1, 2, 3].map(work))
  const seconds = (performance.now() - began) / 1000
  await store.close()
  if (done !== results) throw new Error(`${done} of ${results} jobs were done`)
  return done / seconds
}

const folder = mkdtempSync(join(tmpdir(), 'touchstone-bench-'))
const embedded = await rate(await openEmbedded({ folder: join(folder, 'data') }))
rmSync(folder, { recursive: true, force: true })
const server = await startPostgres()
const postgres = await rate(await openPostgres({ url: await server.database('bench') }))
await server.end()

const report = {
  command: `node bench/fleetStore.mjs ${results}`,
  date: new Date().toISOString(),
  cpu: cpus()[0]?.model,
  cores: cpus().length,
  node: process.version,
  load: loadavg(),
  results,
  embeddedResultsPerSecond: embedded,
  postgresResultsPerSecond: postgres,
}
writeFileSync(new URL('./results/fleetStore.json', import.meta.url), `${JSON.stringify(report, null, 2)}\n`)
console.log(JSON.stringify(report, null, 2))
