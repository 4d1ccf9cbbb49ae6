import type { Precision } from '../../src/core/params/precision.ts'
import type { Card } from '../../src/drivers/gpu/cuda/card.ts'
import type { ProductMaker } from '../../src/drivers/gpu/cuda/product.ts'
import { timed } from './openCard.ts'

const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)]!
}
const round = (value: number, digits = 4): number => Number(value.toFixed(digits))

export interface RatioRow {
  readonly what: string
  readonly target: number
  readonly ratio: number
  readonly met: boolean
  readonly details: Readonly<Record<string, unknown>>
}

/**
 * Proven over bare, batch by batch in turns on the same operands: the card's clocks move with its power, so only
 * neighbours compare. A batch lasts about `batchMs`. The ratio is that of the sums; each pair's stands beside it.
 */
export function provenRatio(
  card: Card,
  precision: Precision,
  side: number,
  target: number,
  pairs: number,
  batchMs: number,
): RatioRow {
  const { api, stream } = card.tools
  const shape = { kind: 'rounds' as const, precision, m: side, n: side, k: side, rounds: 512 }
  const plan = card.plan(shape)
  const seed = new Uint8Array(32).fill(side / 1024 + precision.length)
  plan.window.start(plan.state, seed)
  const once = timed(card, 2, () => api.launchGraph(plan.graph, stream))
  const times = Math.min(500, Math.max(3, Math.round(batchMs / once)))
  const bare: number[] = []
  const proven: number[] = []
  for (let i = 0; i < pairs; i++) {
    bare.push(timed(card, times, () => plan.steps.product(stream), 0))
    plan.window.start(plan.state, seed)
    proven.push(timed(card, times, () => api.launchGraph(plan.graph, stream), 0))
  }
  const parts = Object.fromEntries(
    Object.entries(plan.steps)
      .filter(([name]) => name !== 'product')
      .map(([name, step]) => {
        plan.window.start(plan.state, seed)
        return [`${name}Ms`, round(timed(card, 5, () => step(stream)))]
      }),
  )
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)
  const ratio = sum(bare) / sum(proven)
  const teraOps = (ms: number) => Math.round((2 * side ** 3) / ms / 1e9)
  return {
    what: `proven / bare, ${precision}, n = k = ${side}`,
    target,
    ratio: round(ratio),
    met: ratio >= target,
    details: {
      bareTeraOps: teraOps(median(bare)),
      provenTeraOps: teraOps(median(proven)),
      pairs: bare.map((ms, i) => round(ms / proven[i]!)),
      bareMs: bare.map((ms) => round(ms)),
      provenMs: proven.map((ms) => round(ms)),
      rounds: times,
      choice: plan.choice,
      ...parts,
    },
  }
}

/** One way to make a product against another, in turns. */
export function productRatio(
  card: Card,
  {
    precision,
    side,
    k,
    own,
    target,
  }: { precision: Precision; side: number; k: number; own: ProductMaker; target: number },
): RatioRow {
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
    ours.push(timed(card, 4, () => plan.steps.product(stream), 0))
  }
  matmul.close()
  const ratio = median(library) / median(ours)
  const teraOps = (ms: number) => round((2 * side * side * k) / ms / 1e9, 1)
  return {
    what: `own ${precision} product (${own}) / cuBLASLt, n = ${side}, k = ${k}`,
    target,
    ratio: round(ratio),
    met: ratio >= target,
    details: {
      libraryTeraOps: teraOps(median(library)),
      ownTeraOps: teraOps(median(ours)),
      choices: choices.map((ms) => round(ms)),
    },
  }
}
