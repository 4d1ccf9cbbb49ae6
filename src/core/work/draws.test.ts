import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { fromHex } from '../bytes/hex.ts'
import { drawPatches } from './draws.ts'
import type { Op, ShapedStep } from './op.ts'
import type { Ops, ShapedProgram } from './program.ts'
import type { WorkKernels } from './workKernels.ts'
import { EXACT_OPS } from './workOps.ts'

type Step = { readonly op: string; readonly isChoke: boolean } & Readonly<Record<string, number>>

interface Vector {
  readonly name: string
  readonly transitions: readonly (readonly Step[])[]
  readonly q: string
  readonly drawn: readonly (readonly number[])[]
}

const vectors: readonly Vector[] = JSON.parse(
  readFileSync(new URL('../../../test/vectors/draws.json', import.meta.url), 'utf8'),
)

/** An op of so many patches and operations as its numbers say. */
const counted = {
  operations: ({ numbers }: ShapedStep) => numbers.operations!,
  patches: ({ numbers }: ShapedStep) => numbers.patches!,
} as Partial<Op<WorkKernels>> as Op<WorkKernels>

/** A tensor of cells that are one word wide, and a piece of so many for each of its rows. */
function shapedOf({ op, isChoke: _, ...numbers }: Step): ShapedStep {
  const { rows = 1, cells = 1, each = 1 } = numbers
  const base = { type: 'u32', rows, width: cells } as const
  const piece = { type: 'u32', rows: rows * each, width: 1 } as const
  return op === 'put' ? { inputs: [base, piece], outputs: [base], numbers } : { inputs: [], outputs: [], numbers }
}

describe('vectors of a second implementation', () => {
  test.each(vectors)('$name', ({ transitions, q, drawn }) => {
    const names = transitions.flat().map(({ op }) => op)
    const ops: Ops<WorkKernels> = {
      ...Object.fromEntries(names.map((op) => [op, counted])),
      put: EXACT_OPS.put!,
    }
    const programs = transitions.map(
      (steps): Pick<ShapedProgram, 'steps' | 'shaped'> => ({
        steps: steps.map(({ op, isChoke }) => ({ op, isChoke, inputs: [], outputs: [], numbers: {} })),
        shaped: steps.map(shapedOf),
      }),
    )
    const found = drawPatches(ops, programs as ShapedProgram[], fromHex(q, 32)!)
    expect(found.map(({ transition, step, patch }) => [transition, step, patch])).toEqual(drawn)
  })
})
