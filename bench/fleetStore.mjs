#!/usr/bin/env node
// Results per second of both stores: claim a job, finish it with 12 figures and a certificate of 4 KB, four at a time. And
// how long it takes to claim one cohort, to settle its window, and to read its boxes.
//   node scripts/build.mjs && node bench/fleetStore.mjs [results] [boxes of the cohort]      default 2000, 256
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { openEmbedded } from '../dist/drivers/store/openEmbedded.js'
import { openPostgres } from '../dist/drivers/store/openPostgres.js'
import { startPostgres } from './support/postgres.mjs'

const results = Number(process.argv[2] ?? 2000)
const cohortSize = Number(process.argv[3] ?? 256)
const certificate = JSON.stringify({ payload: Buffer.alloc(3000, 7).toString('base64') })
const figures = Array.from({ length: 12 }, (_, i) => ({ device: 0, name: `figure.${i}`, value: i * 1.5 }))
const present = { missed: 0, stalls: 0, restMs: null }
const box = {
  status: 'verified',
  score: 5,
  terms: [],
  scored: true,
  lowered: false,
  failuresInRow: 0,
  busyInRow: 0,
  failed: false,
  ...present,
}

const resultOf = (job) => ({
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
})

const namesOf = (prefix, count) => Array.from({ length: count }, (_, i) => `${prefix}-${i}`)

async function putAll(store, ids) {
  for (const id of ids)
    await store.putBox({ id, address: `ssh://${id}:22`, provider: 'p', claim: null, allocated: false })
}

async function openRound(store, ids, number, cohortOf) {
  const round = { round: number, kind: 'full', reason: 'round', delayMs: 0 }
  const jobs = ids.map((boxId, i) => ({ ...round, boxId, cohort: cohortOf(i) }))
  await store.openRound({ number, height: null, jobs })
}

async function timed(work) {
  const began = performance.now()
  return [await work(), performance.now() - began]
}

/** Milliseconds for claiming a cohort, for settling its window, and for reading its boxes. */
async function cohortMs(store) {
  const ids = namesOf('mate', cohortSize)
  await putAll(store, ids)
  await openRound(store, ids, 2, () => 0)
  const [taken, claimMs] = await timed(() => store.takeJobs({ owner: 'w', holdMs: 600_000, limit: cohortSize }))
  if (taken.length !== cohortSize) throw new Error(`${taken.length} of ${cohortSize} were taken`)
  for (const job of taken)
    await store.finishJob({ job, owner: 'w', result: resultOf(job), box, retryInMs: null, followUps: [] })
  const [earned, settleMs] = await timed(() => store.settle(2, taken[0].window))
  if (earned !== cohortSize) throw new Error(`${earned} of ${cohortSize} earned`)
  const [, readMs] = await timed(() => store.fleet())
  return { claimMs, settleMs, readMs }
}

async function rate(store) {
  const ids = namesOf('box', results)
  await putAll(store, ids)
  await openRound(store, ids, 1, (i) => i)
  const began = performance.now()
  let done = 0
  const work = async (worker) => {
    for (;;) {
      const [job] = await store.takeJobs({ owner: `w${worker}`, holdMs: 60_000, limit: 1 })
      if (!job) return
      const result = resultOf(job)
      await store.finishJob({ job, owner: `w${worker}`, result, box, retryInMs: null, followUps: [] })
      done++
    }
  }
  await Promise.all([0, 1, 2, 3].map(work))
  const seconds = (performance.now() - began) / 1000
  if (done !== results) throw new Error(`${done} of ${results} jobs were done`)
  const cohort = await cohortMs(store)
  await store.close()
  return { resultsPerSecond: done / seconds, cohort }
}

const folder = mkdtempSync(join(tmpdir(), 'touchstone-bench-'))
const embedded = await rate(await openEmbedded({ folder: join(folder, 'data') }))
rmSync(folder, { recursive: true, force: true })
const server = await startPostgres()
const postgres = await rate(await openPostgres({ url: await server.database('bench') }))
await server.end()

const report = {
  command: `node bench/fleetStore.mjs ${results} ${cohortSize}`,
  date: new Date().toISOString(),
  cpu: cpus()[0]?.model,
  cores: cpus().length,
  node: process.version,
  load: loadavg(),
  results,
  cohortSize,
  embedded,
  postgres,
}
writeFileSync(new URL('./results/fleetStore.json', import.meta.url), `${JSON.stringify(report, null, 2)}\n`)
console.log(JSON.stringify(report, null, 2))
