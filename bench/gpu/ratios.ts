import type { Precision } from '../../src/core/params/precision.ts'
import type { Card } from '../../src/drivers/gpu/cuda/card.ts'
import type { ProductMaker } from '../../src/drivers/gpu/cuda/product.ts'
import { median, round } from './figures.ts'
import { timed } from './openCard.ts'

export interface Row {
  readonly what: string
  readonly target: string
  readonly value: number
  readonly met: boolean | null
  readonly details: Readonly<Record<string, unknown>>
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)

/**
 * Proven over bare on the same operands, batches of a second and a half in the order bare, proven, proven, bare …: the
 * card runs at its power limit and its clocks drift, so only neighbours compare, only once it is warm, and each way long
 * enough to settle at clocks of its own. Ratio of the sums.
 */
export function provenRatio(card: Card, precision: Precision, side: number, target: number): Row {
  const { api, stream } = card.tools
  const plan = card.plan({ kind: 'rounds', precision, m: side, n: side, k: side, rounds: 1024 })
  const seed = new Uint8Array(32).fill(side / 1024 + precision.length)
  const provenBatch = (times: number) => {
    plan.window.start(plan.state, seed)
    return timed(card, times, () => api.launchGraph(plan.graph, stream), 0)
  }
  const bareBatch = (times: number) => timed(card, times, () => plan.steps.product(), 0)
  const once = provenBatch(3)
  const times = Math.min(1000, Math.max(3, Math.round(1500 / once)))
  provenBatch(times)
  const bare: number[] = []
  const proven: number[] = []
  for (let i = 0; i < 4; i++) {
    if (i % 2 === 0) bare.push(bareBatch(times))
    proven.push(provenBatch(times))
    if (i % 2 === 1) bare.push(bareBatch(times))
  }
  const alone = (step: keyof typeof plan.steps) => {
    plan.window.start(plan.state, seed)
    return round(timed(card, 5, () => plan.steps[step]()))
  }
  const ratio = sum(bare) / sum(proven)
  const teraOps = (ms: number) => Math.round((2 * side ** 3) / ms / 1e9)
  return {
    what: `proven / bare cuBLASLt, ${precision}, n = k = ${side}`,
    target: `>= ${target}`,
    value: round(ratio),
    met: ratio >= target,
    details: {
      bareTeraOps: teraOps(median(bare)),
      provenTeraOps: teraOps(median(proven)),
      pairs: bare.map((ms, i) => round(ms / proven[i]!)),
      bareMs: bare.map((ms) => round(ms)),
      provenMs: proven.map((ms) => round(ms)),
      roundsPerBatch: times,
      libraryChoice: plan.choice,
      entriesMs: alone('entries'),
      leavesMs: alone('leaves'),
      treeMs: alone('tree'),
    },
  }
}

/** One way to make a product against the library's best, in turns. */
export function productRatio(
  card: Card,
  task: { precision: Precision; side: number; k: number; own: ProductMaker; target: number | null },
): Row {
  const { precision, side, k, own, target } = task
  const { stream, buffers, cublasLt } = card.tools
  const shape = { kind: 'rounds' as const, precision, m: side, n: side, k, rounds: 8 }
  const plan = card.plan(shape, { maker: own })
  const { pointer, bytes } = card.tools.workspace()
  const operands = { ...shape, a: buffers.take('a', 1), b: buffers.take('b', 1), c: plan.c }
  const matmul = cublasLt!.matmul({ ...operands, workspace: pointer, workspaceBytes: bytes })
  const choices = Array.from({ length: Math.min(4, matmul.choices) }, (_, i) =>
    timed(card, 3, () => matmul.launch(i, stream)),
  )
  const best = choices.indexOf(Math.min(...choices))
  const library: number[] = []
  const ours: number[] = []
  for (let i = 0; i < 4; i++) {
    library.push(timed(card, 4, () => matmul.launch(best, stream), 0))
    ours.push(timed(card, 4, () => plan.steps.product(), 0))
  }
  matmul.close()
  const ratio = sum(library) / sum(ours)
  const teraOps = (ms: number) => round((2 * side * side * k) / ms / 1e9, 1)
  return {
    what: `own ${precision} product (${own}) / cuBLASLt, n = ${side}, k = ${k}`,
    target: target === null ? 'none' : `>= ${target}`,
    value: round(ratio),
    met: target === null ? null : ratio >= target,
    details: { libraryTeraOps: teraOps(median(library)), ownTeraOps: teraOps(median(ours)) },
  }
}
