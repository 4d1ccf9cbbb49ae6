import { writeFileSync } from 'node:fs'
import type { Precision } from '../../src/core/params/precision.ts'
import { Stop } from '../../src/drivers/gpu/cuda/stop.ts'
import { type Check, checkChain, checkMemory, checkPaths, checkTiles } from './exactness.ts'
import { openCard, timed } from './openCard.ts'

const out = process.env.OUT ?? '.'
const began = performance.now()
const log = (...parts: unknown[]) => console.log(`${((performance.now() - began) / 1000).toFixed(2)}s`, ...parts)
const { api, card, engine } = await openCard()
log('open', JSON.stringify(card.facts), card.tools.cublasLt?.path)
const checks: Check[] = []
const note = (check: Check) => {
  checks.push(check)
  log(check.ok ? 'ok  ' : 'FAIL', check.what, check.note ?? '')
}
const ALL: Precision[] = ['int8', 'fp8', 'bf16', 'fp16', 'fp32']

for (const precision of ALL) {
  for (const [m, n, k] of [
    [64, 64, 64],
    [128, 256, 128],
  ] as const) {
    for (const maker of ['cublasLt', 'tensor', 'plain'] as const) {
      if (precision === 'fp32' && maker !== 'plain') continue
      if (maker === 'plain' && precision !== 'fp32' && precision !== 'int8') continue
      note(checkChain(card, engine, { precision, m, n, k, kind: 'rounds' }, maker))
    }
  }
}
note(checkChain(card, engine, { precision: 'int8', m: 1024, n: 512, k: 64, kind: 'rounds' }))
note(checkChain(card, engine, { precision: 'bf16', m: 512, n: 1024, k: 64, kind: 'rounds' }))
note(checkChain(card, engine, { precision: 'int8', m: 256, n: 256, k: 64, kind: 'bind' }))
note(checkChain(card, engine, { precision: 'int8', m: 1024, n: 1024, k: 64, kind: 'bind' }))
note(checkPaths(card, engine, { precision: 'int8', m: 64, n: 64, k: 64, kind: 'rounds' }))
note(checkPaths(card, engine, { precision: 'fp16', m: 8192, n: 8192, k: 128, kind: 'rounds' }))
card.release()
note(checkMemory(card, engine, 64, 3))
note(checkMemory(card, engine, 1024, 2))
card.release()
const results: Record<string, unknown>[] = []
const save = () => writeFileSync(`${out}/first.json`, JSON.stringify({ facts: card.facts, checks, results }, null, 1))
const row = (result: Record<string, unknown>) => {
  results.push(result)
  log(JSON.stringify(result))
  save()
}
const guarded = (name: string, work: () => void) => {
  try {
    work()
  } catch (error) {
    row({ name, error: String(error).slice(0, 400) })
  }
}

for (const side of [16384, 32768]) {
  for (const precision of ['int8', 'fp8', 'bf16', 'fp16'] as Precision[]) {
    guarded(`breakdown ${precision} ${side}`, () => {
      const shape = { kind: 'rounds' as const, precision, m: side, n: side, k: side, rounds: 64 }
      const plan = card.plan(shape)
      const { steps } = plan
      const { stream } = card.tools
      const times = side === 16384 ? 20 : 5
      plan.window.start(plan.state, new Uint8Array(32).fill(7))
      const entries = timed(card, times, () => steps.entries(stream))
      const leaves = timed(card, times, () => steps.leaves(stream))
      const tree = timed(card, times, () => steps.tree(stream))
      plan.window.start(plan.state, new Uint8Array(32).fill(7))
      steps.entries(stream)
      const choices: number[] = []
      for (let choice = 0; choice < Math.min(plan.product.choices, 6); choice++)
        choices.push(timed(card, Math.max(2, times / 4), () => plan.product.launch(stream, choice)))
      const bare: number[] = []
      const proven: number[] = []
      for (let i = 0; i < 3; i++) {
        bare.push(timed(card, times, () => steps.product(stream)))
        plan.window.start(plan.state, new Uint8Array(32).fill(i))
        proven.push(timed(card, times, () => api.launchGraph(plan.graph, stream)))
      }
      api.synchronize(stream)
      const best = Math.min(...bare)
      const rate = (ms: number) => Math.round((2 * side ** 3) / ms / 1e9)
      row({
        precision,
        side,
        entries,
        leaves,
        tree,
        choices,
        bare: bare.map(rate),
        proven: proven.map(rate),
        bareMs: bare,
        provenMs: proven,
        ratio: best / Math.min(...proven),
      })
    })
  }
  for (const precision of ['int8', 'fp8', 'bf16', 'fp16'] as Precision[])
    note(checkTiles(card, engine, { precision, m: side, n: side, k: side }, side === 16384 ? 60 : 20))
}
card.release()
guarded('fp32', () => {
  const shape = { kind: 'rounds' as const, precision: 'fp32' as const, m: 16384, n: 16384, k: 8192, rounds: 8 }
  const plan = card.plan(shape)
  const { stream } = card.tools
  const ours = [1, 2, 3].map(() => timed(card, 3, () => plan.steps.product(stream)))
  const entries = timed(card, 3, () => plan.steps.entries(stream))
  const { pointer, bytes } = card.tools.workspace()
  const buffers = card.tools.buffers
  const matmul = card.tools.cublasLt!.matmul({
    ...shape,
    a: buffers.take('a', 1),
    b: buffers.take('b', 1),
    c: plan.c,
    workspace: pointer,
    workspaceBytes: bytes,
  })
  const library = Array.from({ length: Math.min(4, matmul.choices) }, (_, i) =>
    timed(card, 3, () => matmul.launch(i, stream)),
  )
  row({ name: 'fp32', ours, library, entries, ratio: Math.min(...library) / Math.min(...ours) })
  note(checkTiles(card, engine, { precision: 'fp32', m: 16384, n: 16384, k: 8192 }, 20))
})
for (const precision of ['fp16', 'bf16', 'int8', 'fp8'] as Precision[]) {
  guarded(`tensor ${precision}`, () => {
    const shape = { kind: 'rounds' as const, precision, m: 16384, n: 16384, k: 16384, rounds: 8 }
    const library = card.plan(shape)
    const own = card.plan(shape, { maker: 'tensor' })
    const { stream } = card.tools
    const a = timed(card, 5, () => library.product.launch(stream))
    const b = timed(card, 5, () => own.product.launch(stream))
    row({ name: `tensor ${precision}`, library: a, own: b, ratio: a / b, ownRate: (2 * 16384 ** 3) / b / 1e9 })
    note(checkTiles(card, engine, { precision, m: 16384, n: 16384, k: 16384 }, 20, 'tensor'))
  })
}
card.release()
guarded('copy', () => {
  const bytes = 16e9
  const from = api.allocate(bytes)
  const to = api.allocate(bytes)
  const { stream } = card.tools
  const library = timed(card, 5, () => api.copyAsync(to, from, bytes, stream))
  const kernel = card.tools.kernels.get('memory', 'ts_copy')
  const own = timed(card, 5, () =>
    api.launch({ kernel, blocks: [132 * 16, 1], threads: 256, stream, arguments: [from, to, BigInt(bytes / 16)] }),
  )
  api.free(from)
  api.free(to)
  row({ name: 'copy', library: (2 * bytes) / library / 1e6, own: (2 * bytes) / own / 1e6 })
})
guarded('memory', () => {
  const { totalBytes, freeBytes } = api.freeMemory()
  const perRound = (16384 / 32) ** 2 * (2048 + 16)
  const kept = Math.floor((0.95 * totalBytes) / perRound)
  row({ name: 'memory plan', totalBytes, freeBytes, kept, wanted: kept * perRound })
  let start = performance.now()
  card.fill({ m: 16384, n: 16384, k: 32768, kept, seed: new Uint8Array(32).fill(5) }, () => {}, new Stop())
  const fillMs = performance.now() - start
  row({ name: 'fill', kept, fillMs, perRound: fillMs / kept, free: api.freeMemory().freeBytes })
  start = performance.now()
  const arrivals: number[] = []
  card.runPasses(
    { passes: 16, start: new Uint8Array(32).fill(6) },
    () => arrivals.push(performance.now() - start),
    new Stop(),
  )
  const held = kept * (16384 / 32) ** 2 * 2048
  const last = arrivals.at(-1)!
  row({
    name: 'passes',
    held,
    share: held / totalBytes,
    total: last,
    rate: (2 * held * 16) / last / 1e9,
    steady: (2 * held * 15) / (last - arrivals[0]!) / 1e9,
  })
  start = performance.now()
  const tiles = kept * (16384 / 32) ** 2
  card.openPasses(
    Array.from({ length: 128 }, (_, i) => ({ round: i % 16, tile: Math.floor(((i * 0.618033) % 1) * tiles) })),
  )
  row({ name: 'openPasses', ms: performance.now() - start })
})
card.release()
row({ name: 'freed', ...api.freeMemory() })
save()
log('failed', checks.filter((check) => !check.ok).length, 'of', checks.length)
