/**
 * Every row of the GPU table in one go: node bench.js, after `node bench/gpu/pack.mjs FOLDER bench/gpu/bench.ts
 * bench/gpu/firstRoot.ts`. Writes gpu-<date>.json to OUT (or here).
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Precision } from '../../src/core/params/precision.ts'
import { openCudaDevices } from '../../src/drivers/gpu/cuda/openCudaDevices.ts'
import { exactTiles, TileEngines } from './exactTiles.ts'
import { median, quantile, relativeSlope, round } from './figures.ts'
import { memoryRows, transferRow } from './memoryRows.ts'
import { openCard, timed } from './openCard.ts'
import { productRatio, provenRatio, type Row } from './ratios.ts'

const began = performance.now()
const rows: Row[] = []
const never = new AbortController().signal
const date = new Date().toISOString()
const driver = spawnSync('nvidia-smi', ['--query-gpu=driver_version', '--format=csv,noheader'], {
  encoding: 'utf8',
}).stdout?.trim()

const firstRoots = firstRootRow()
const { api, card } = await openCard()
const note = (row: Row) => {
  rows.push(row)
  const met = row.met === null ? '    ' : row.met ? 'met ' : 'MISS'
  console.log(
    `${((performance.now() - began) / 1000).toFixed(1).padStart(6)} s  ${met}  ${row.what}: ${row.value} (${row.target}) ${JSON.stringify(row.details)}`,
  )
  save()
}
function save(): void {
  const result = {
    command: 'node bench.js (bench/gpu/bench.ts, packed by bench/gpu/pack.mjs)',
    driver,
    date,
    seconds: round((performance.now() - began) / 1000, 1),
    facts: card.facts,
    rows,
  }
  writeFileSync(join(process.env.OUT ?? '.', `gpu-${date.replace(/[:.]/g, '-')}.json`), JSON.stringify(result, null, 1))
}

note(firstRoots)
const engines = new TileEngines()
for (const precision of ['int8', 'fp8', 'bf16', 'fp16'] as Precision[])
  note(await exactTiles(card, engines, { precision, side: 16384, k: 16384, count: 10_000 }))
note(await exactTiles(card, engines, { precision: 'fp32', side: 8192, k: 8192, count: 10_000 }))
await engines.close()
card.release()

const TARGETS = {
  16384: { int8: 0.9, fp8: 0.9, bf16: 0.95, fp16: 0.95 },
  32768: { int8: 0.95, fp8: 0.94, bf16: 0.97, fp16: 0.97 },
} as const
for (const side of [16384, 32768] as const)
  for (const precision of ['int8', 'fp8', 'bf16', 'fp16'] as const)
    note(provenRatio(card, precision, side, TARGETS[side][precision]))
card.release()
note(productRatio(card, { precision: 'fp32', side: 16384, k: 8192, own: 'plain', target: 0.6 }))
note(productRatio(card, { precision: 'fp16', side: 16384, k: 16384, own: 'tensor', target: 0.5 }))
for (const precision of ['bf16', 'int8', 'fp8'] as const)
  note(productRatio(card, { precision, side: 16384, k: 16384, own: 'tensor', target: null }))
card.release()
note(bindRow())
note(transferRow(card))
for (const row of memoryRows(card)) note(row)
card.close()
note(await sustainedRow())
console.log(
  `${rows.filter((row) => row.met === true).length} met, ${rows.filter((row) => row.met === false).length} missed`,
)

/** From spawning a bare process to its first root of the int8 class: kernels compiled by the driver, then from its cache. */
function firstRootRow(): Row {
  const script = fileURLToPath(new URL('./firstRoot.js', import.meta.url))
  const CUDA_CACHE_PATH = mkdtempSync(join(tmpdir(), 'touchstone-jit-'))
  const once = () => {
    const { stdout } = spawnSync(process.execPath, [script, '16384'], {
      encoding: 'utf8',
      env: { ...process.env, CUDA_CACHE_PATH },
    })
    return JSON.parse(stdout.trim().split('\n').at(-1)!) as Record<string, number>
  }
  const [cold, warm] = [once(), once()]
  const seconds = cold.firstRoot! / 1000
  return {
    what: 'process start to first root, s',
    target: '<= 2',
    value: round(seconds, 2),
    met: seconds <= 2,
    details: { cold, warm },
  }
}

/** §8: bind rounds beside plain ones of the same size, and with C behind the bus: what two memories joined by PCIe cost. */
function bindRow(): Row {
  const { stream } = card.tools
  const shape = { precision: 'int8' as const, m: 16384, n: 16384, k: 2048, rounds: 64 }
  const rate = (kind: 'rounds' | 'bind') => {
    const plan = card.plan({ ...shape, kind })
    plan.window.start(plan.state, new Uint8Array(32).fill(1))
    return timed(card, 40, () => api.launchGraph(plan.graph, stream))
  }
  const [plain, bind] = [rate('rounds'), rate('bind')]
  const plan = card.plan({ ...shape, kind: 'bind' })
  const onCard = timed(card, 10, () => plan.steps.leaves())
  const host = api.allocateHost(4 * 16384 * 16384)
  const kernel = card.tools.kernels.get('memory', 'ts_leaves_bind')
  const args = [host.pointer, plan.state, 512 * 512, 9, 0, plan.prints, plan.nodes]
  const behindBus = timed(card, 1, () =>
    api.launch({ kernel, blocks: [1024, 1], threads: 256, stream, arguments: args }),
  )
  api.freeHost(host)
  const details = {
    plainRoundMs: round(plain),
    bindRoundMs: round(bind),
    bindLeavesMs: round(onCard),
    bindLeavesBehindBusMs: round(behindBus, 1),
  }
  card.release()
  return {
    what: 'bind rate / plain rate, int8, n = 16384, k = 2048',
    target: 'shown',
    value: round(plain / bind),
    met: null,
    details,
  }
}

/** Twenty seconds of bf16 through the port, root by root, with what NVML says meanwhile. */
async function sustainedRow(): Promise<Row> {
  const [device] = await openCudaDevices({ ordinals: [0] })
  const side = 32768
  const task = { kind: 'rounds', precision: 'bf16', m: side, n: side, k: side, rounds: 190 } as const
  await device!.prepare!([task], never)
  const arrivals: number[] = []
  const samples: unknown[] = []
  const timer = setInterval(() => void device!.telemetry!().then((sample) => samples.push(sample)), 1000)
  const start = performance.now()
  await device!.runSeries(
    { ...task, seed: crypto.getRandomValues(new Uint8Array(32)) },
    () => arrivals.push(performance.now()),
    never,
  )
  clearInterval(timer)
  const opening = performance.now()
  await device!.openSeries(
    Array.from({ length: 128 }, (_, i) => ({ round: i, tile: i * 4099 })),
    never,
  )
  const openMs = performance.now() - opening
  await device!.close()
  const gaps = arrivals.map((at, i) => at - (i === 0 ? start : arrivals[i - 1]!))
  const rates = gaps.map((ms) => (2 * side ** 3) / ms / 1e9)
  const seconds = (arrivals.at(-1)! - start) / 1000
  const details = {
    seconds: round(seconds, 2),
    medianTeraOps: round(median(rates), 1),
    p5TeraOps: round(quantile(rates, 0.05), 1),
    minTeraOps: round(Math.min(...rates), 1),
    slopePerRound: round(relativeSlope(rates), 6),
    openings128Ms: round(openMs, 1),
    samples,
  }
  const value = round((task.rounds * 2 * side ** 3) / seconds / 1e12, 1)
  return { what: 'sustained bf16 through the port, T/s', target: 'shown', value, met: null, details }
}
