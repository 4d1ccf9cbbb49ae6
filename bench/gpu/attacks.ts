/** Attacks that need a card: attacks 6, 7, 13, 26, 28 and 39. Writes gpu-attacks-<date>.json to OUT. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openCudaDevices } from '../../src/drivers/gpu/cuda/openCudaDevices.ts'
import { Stop } from '../../src/drivers/gpu/cuda/stop.ts'
import { round } from './figures.ts'
import { copyRate } from './memoryRows.ts'
import { openCard, timed } from './openCard.ts'

const date = new Date().toISOString()
const never = new AbortController().signal
const rows: Record<string, unknown>[] = []
const note = (row: Record<string, unknown>) => {
  rows.push(row)
  console.log(JSON.stringify(row))
  writeFileSync(
    join(process.env.OUT ?? '.', `gpu-attacks-${date.replace(/[:.]/g, '-')}.json`),
    JSON.stringify({ command: 'bench/gpu/attacks.ts', date, rows }, null, 1),
  )
}

/** 6 and 28: one card opened twice, in contexts of its own: each alone, then both in one window. */
async function oneCardAsTwo(): Promise<void> {
  const devices = await openCudaDevices({ ordinals: [0, 0], context: 'own' })
  const shape = { kind: 'rounds', precision: 'bf16', m: 8192, n: 8192, k: 32768, rounds: 150 } as const
  await Promise.all(devices.map((device) => device.prepare!([shape], never)))
  const run = async (device: (typeof devices)[number], fill: number) => {
    const start = performance.now()
    await device.runSeries({ ...shape, seed: new Uint8Array(32).fill(fill) }, () => {}, never)
    return (2 * shape.m * shape.n * shape.k * shape.rounds) / (performance.now() - start) / 1e9
  }
  const alone = [await run(devices[0]!, 1), await run(devices[1]!, 2)]
  const together = await Promise.all(devices.map((device, i) => run(device, i + 3)))
  const scaling = (together[0]! + together[1]!) / (alone[0]! + alone[1]!)
  await Promise.all(devices.map((device) => device.close()))
  note({
    attack: '6, 28',
    what: 'one card answers for two',
    alone: alone.map((rate) => round(rate, 1)),
    together: together.map((rate) => round(rate, 1)),
    scaling: round(scaling),
    shows: scaling < 0.75,
  })
}

await oneCardAsTwo()
const { api, card } = await openCard()
const { stream } = card.tools

/** 7: fp32 by the library instead of the ordered sum: in fp32 proper, and on tensor cores that round the operands. */
function libraryForFp32(tf32: boolean): void {
  const shape = { kind: 'rounds' as const, precision: 'fp32' as const, m: 4096, n: 4096, k: 8192, rounds: 1 }
  const plan = card.plan(shape)
  const { pointer, bytes } = card.tools.workspace()
  const operands = { a: card.tools.buffers.take('a', 1), b: card.tools.buffers.take('b', 1), c: plan.c }
  const matmul = card.tools.cublasLt!.matmul({ ...shape, ...operands, workspace: pointer, workspaceBytes: bytes, tf32 })
  const tiles = (4096 / 32) ** 2
  const printsOf = (product: () => void) => {
    plan.window.start(plan.state, new Uint8Array(32).fill(5))
    plan.steps.entries()
    api.zero(plan.c, 4 * 4096 * 4096)
    product()
    plan.steps.leaves()
    api.synchronize(stream)
    return api.download(plan.prints, 16 * tiles)
  }
  const honest = printsOf(() => plan.steps.product())
  const forged = printsOf(() => matmul.launch(0, stream))
  const honestMs = timed(card, 3, () => plan.steps.product())
  const forgedMs = timed(card, 3, () => matmul.launch(0, stream))
  matmul.close()
  let same = 0
  for (let tile = 0; tile < tiles; tile++)
    if (forged.subarray(16 * tile, 16 * tile + 16).every((byte, i) => byte === honest[16 * tile + i])) same++
  card.release()
  const what = tf32 ? 'TF32 in place of fp32: tiles that pass' : 'cuBLAS SGEMM in place of our kernel: tiles that pass'
  // SGEMM without split-k adds in the same order: the same bits at the same cost are no cheat.
  const speed = round(honestMs / forgedMs, 2)
  note({
    attack: '7',
    what,
    same,
    of: tiles,
    speedOverHonest: speed,
    shows: tf32 ? same === 0 : same === 0 || speed < 1.5,
  })
}

/** 26: bits in the kept halves of a fill, by the spread of their values. */
function entropyOfTheFill(): void {
  card.fill({ m: 4096, n: 4096, k: 32768, kept: 4, seed: new Uint8Array(32).fill(9) }, () => {}, new Stop())
  const kept = card.tools.buffers.take('kept', 1) // the buffer the fill lies in
  const words = new Uint16Array(api.download(kept, 4 * 4096 * 4096 * 2).buffer)
  const counts = new Uint32Array(65536)
  for (const word of words) counts[word]!++
  let bits = 0
  for (const count of counts) if (count > 0) bits -= (count / words.length) * Math.log2(count / words.length)
  card.release()
  note({
    attack: '26',
    what: 'entropy of the kept 16 bits',
    bits: round(bits),
    samples: words.length,
    shows: bits >= 15.9,
  })
}

/** 13 and 39: the fill in host memory, read by the same pass over the bus. */
function fillInHostMemory(): void {
  const copy = copyRate(card)
  const bytes = 4 * 2 ** 30
  const host = api.allocateHost(bytes)
  const tiles = bytes / 2048
  const state = api.allocate(64)
  api.zero(state, 64)
  const nodes = api.allocate((tiles / 256) * 32)
  const kernel = card.tools.kernels.get('memory', 'ts_pass')
  const pass = (own: bigint, partners: bigint) =>
    timed(card, 1, () =>
      api.launch({
        kernel,
        blocks: [tiles / 256, 1],
        threads: 256,
        stream,
        arguments: [own, partners, tiles, state, 256, nodes],
      }),
    )
  const device = api.allocate(bytes)
  const onCard = (2 * bytes) / (pass(device, device) / 1000)
  const parked = (2 * bytes) / (pass(host.pointer, host.pointer) / 1000)
  const half = (2 * bytes) / (pass(device, host.pointer) / 1000)
  api.free(device)
  api.free(nodes)
  api.free(state)
  api.freeHost(host)
  // A share s in host memory: every pass reads s of all bytes over the bus, which bounds the rate.
  const largestShare = parked / (0.85 * copy)
  note({
    attack: '13, 39',
    what: 'fill in host memory, share of copy bandwidth',
    onCard: round(onCard / copy),
    allInHost: round(parked / copy),
    partnersInHost: round(half / copy),
    gigabytesPerSecParked: round(parked / 1e9, 1),
    largestShareThatPasses85Percent: round(largestShare),
    shows: parked / copy < 0.85,
  })
}

libraryForFp32(false)
libraryForFp32(true)
entropyOfTheFill()
fillInHostMemory()
card.close()
