#!/usr/bin/env node
// Resident memory of a process that has reopened an embedded store of 1,000 boxes, ten seconds later.
//   node scripts/build.mjs && node bench/fleetReopen.mjs
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { openEmbedded } from '../dist/drivers/store/openEmbedded.js'

const folder = process.argv[2]
if (folder) {
  const began = performance.now()
  const store = await openEmbedded({ folder })
  const openMs = performance.now() - began
  const { boxes } = await store.statistics()
  await delay(10_000)
  console.log(JSON.stringify({ openMs, boxes, residentMiB: process.memoryUsage.rss() / 2 ** 20 }))
  await store.close()
} else {
  const parent = mkdtempSync(join(tmpdir(), 'touchstone-bench-'))
  const data = join(parent, 'data')
  const began = performance.now()
  const store = await openEmbedded({ folder: data })
  const createMs = performance.now() - began
  for (let i = 0; i < 1000; i++)
    await store.putBox({ id: `box-${i}`, address: `ssh://box-${i}:22`, provider: 'p', claim: null, allocated: false })
  await store.close()
  const again = spawnSync(process.execPath, [fileURLToPath(import.meta.url), data], { encoding: 'utf8' })
  rmSync(parent, { recursive: true, force: true })
  const report = {
    command: 'node bench/fleetReopen.mjs',
    date: new Date().toISOString(),
    cpu: cpus()[0]?.model,
    cores: cpus().length,
    node: process.version,
    load: loadavg(),
    createMs,
    residentAfterCreatingMiB: process.memoryUsage.rss() / 2 ** 20,
    reopened: JSON.parse(again.stdout),
  }
  writeFileSync(new URL('./results/fleetReopen.json', import.meta.url), `${JSON.stringify(report, null, 2)}\n`)
  console.log(JSON.stringify(report, null, 2))
}
