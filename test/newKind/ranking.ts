import * as z from 'zod'
import type { Kind } from '../../src/core/work/kind.ts'
import { bitsOf } from '../../src/core/work/ops/shapes.ts'
import { ProgramBuilder } from '../../src/core/work/programBuilder.ts'
import { requireThat } from '../../src/core/work/refusals.ts'
import type { TensorShape } from '../../src/core/work/tensor.ts'

/** Strict, with limits: what passes is small enough to be run. */
const parameters = z.strictObject({ pages: z.int().min(2).max(131_072) })

type Parameters = z.infer<typeof parameters>

/** Row i says which pages point to page i. */
const given = ({ pages }: Parameters): ReadonlyMap<string, TensorShape> =>
  new Map([['links', { type: 'i8', rows: pages, width: pages }]])

const state = ({ pages }: Parameters): ReadonlyMap<string, TensorShape> =>
  new Map([['ranks', { type: 'i8', rows: 1, width: pages }]])

/** Numbers of a row as whole numbers up to 127, and what they were divided by. */
function quantised(p: ProgramBuilder, x: string): readonly [whole: string, scale: string] {
  const scale = p.step('rowScale', [x])
  return [p.step('quantise', [x, scale]), scale]
}

/** Which pages matter: those that pages point to which matter. Figure: by how much all ranks grew. */
export const ranking: Kind<Parameters> = {
  name: 'ranking',
  parameters,
  isIndependent: false,
  maxInterval: 64,
  requireTransitions: (_, transitions) =>
    requireThat(transitions <= 1_000_000, 'TOO_BIG', `${transitions} transitions`),
  given,
  state,
  begin(said) {
    const p = new ProgramBuilder()
    for (const [name, shape] of given(said)) p.there(name, shape)
    const alike = p.step('fill', [], { rows: 1, width: said.pages, value: bitsOf(1) })
    return p.build([quantised(p, alike)[0]])
  },
  transition(said) {
    const p = new ProgramBuilder()
    for (const [name, shape] of [...given(said), ...state(said)]) p.there(name, shape)
    const sums = p.step('product', ['ranks', 'links'])
    const one = p.step('fill', [], { rows: 1, width: 1, value: bitsOf(1) })
    const [ranks, growth] = quantised(p, p.step('dequantise', [sums, one]))
    return p.build([ranks], [growth])
  },
  figures: ['growth'],
  guarantees: [
    'Replay: a share e of wrong segments passes 8 draws with (1 - e)^8.',
    'Openings: a share e of segments in which a share x of the sums is wrong passes with (1 - e (1 - (1 - x)^16))^8.',
  ],
}
