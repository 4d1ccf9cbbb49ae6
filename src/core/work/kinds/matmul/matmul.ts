import * as z from 'zod'
import type { Kind } from '../../kind.ts'
import { MAX_K } from '../../ops/product.ts'
import type { Program } from '../../program.ts'
import { requireThat } from '../../refusals.ts'
import type { TensorShape } from '../../tensor.ts'

const MAX_SIDE = 2 ** 20

const parameters = z.strictObject({
  rows: z.int().min(1).max(MAX_SIDE),
  columns: z.int().min(1).max(MAX_SIDE),
  k: z.int().min(1).max(MAX_K),
  /** Rows of C that one transition makes. */
  block: z.int().min(1).max(MAX_SIDE),
})

type Parameters = z.infer<typeof parameters>

const blockAt = ({ rows, block }: Parameters, transition: number) => {
  const row = (transition - 1) * block
  return { row, rows: Math.min(block, rows - row) }
}

const given = ({ rows, columns, k }: Parameters): ReadonlyMap<string, TensorShape> =>
  new Map([
    ['a', { type: 'i8', rows, width: k }],
    ['b', { type: 'i8', rows: columns, width: k }],
  ])

/** The buyer's own integer matrices: C = A B, with B given by its columns. Blocks of rows do not build on each other. */
export const matmul: Kind<Parameters> = {
  name: 'matmul',
  parameters,
  isIndependent: true,
  maxInterval: 1,
  requireTransitions({ rows, block }, transitions) {
    const wanted = Math.ceil(rows / block)
    requireThat(transitions === wanted, 'BAD_SPEC', `${rows} rows in blocks of ${block} are ${wanted} transitions`)
  },
  given,
  state: ({ block, columns }) => new Map([['c', { type: 'i32', rows: block, width: columns }]]),
  begin: () => ({ there: new Map(), steps: [], after: [], statistics: [] }),
  transition: (said, { transition }): Program => ({
    there: given(said),
    steps: [{ op: 'product', inputs: ['a', 'b'], outputs: ['made'], numbers: blockAt(said, transition) }],
    after: ['made'],
    statistics: [],
  }),
  unit: 'int8',
  figures: [],
  guarantees: ['Entries of the result that were not computed: each of 128 openings finds one with their share of all.'],
}
