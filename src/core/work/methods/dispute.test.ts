import { describe, expect, test } from 'vitest'
import { PLAIN_OPS, plainEngine, plainProduct } from '../../../../test/support/plainProduct.ts'
import { EngineRun } from '../engineRun.ts'
import { patchRunner } from '../runPatch.ts'
import { type Disputant, settleDispute } from './dispute.ts'
import { engineDisputant } from './engineDisputant.ts'

/** 1,000 transitions of one row each. */
const { work, given } = plainProduct({ rows: 1000, columns: 300, k: 8, block: 1 })
const firstRoot = new Uint8Array(32)

/** A device that errs in one entry of one row; none where `row` is null. */
function device(row: number | null): Disputant {
  let product = 0
  const engine = plainEngine((sum, at) => (product === row && at === 211 ? sum ^ 4 : sum))
  const run = new EngineRun(engine, work, given)
  const marks = work.ends.map((_, segment) => {
    product = segment
    return run.advance(segment)
  })
  const answers = engineDisputant(work, run, firstRoot, marks)
  const at =
    <A extends [number, ...never[]], R>(answer: (...given: A) => R) =>
    (...asked: A) => {
      product = asked[0]
      return answer(...asked)
    }
  const side = { ...answers, trace: at(answers.trace), nodes: at(answers.nodes), leaf: at(answers.leaf) }
  return { ...side, patch: at(answers.patch) }
}

const settle = (first: Disputant, second: Disputant) => {
  let patches = 0
  const runner = patchRunner(plainEngine(), PLAIN_OPS)
  return settleDispute(work, [first, second], (...asked) => {
    patches++
    return runner(...asked)
  }).then((outcome) => ({ ...outcome, patches }))
}

describe('a dispute over 1,000 transitions', () => {
  const honest = device(null)

  test.each([0, 1, 15, 16, 499, 998, 999])('finds the one wrong patch of transition %i in 12 rounds', async (row) => {
    const liar = device(row)
    const outcome = await settle(liar, honest)
    const draw = { transition: 0, step: 0, patch: 211 }
    expect(outcome).toMatchObject({ wrong: 'first', segment: row, op: 'product', draw })
    expect(outcome.rounds).toBeLessThanOrEqual(12)
    // The same entry, from both sides.
    expect(outcome.patches).toBe(2)
    expect((await settle(honest, liar)).wrong).toBe('second')
  })

  test('between two that agree finds neither wrong', async () => {
    expect(await settle(honest, device(null))).toMatchObject({ wrong: 'neither', patches: 0 })
  })

  test('between two liars finds the first of their lies', async () => {
    const first = device(20)
    const other = device(700)
    // They differ first where the first lies, and there the second is right.
    expect((await settle(first, other)).wrong).toBe('first')
  })

  test.each(['link', 'mark', 'trace', 'nodes', 'leaf', 'patch'] as const)(
    'is lost by whoever has no %s',
    async (name) => {
      const silent = { ...device(300), [name]: async () => null }
      expect((await settle(silent, honest)).wrong).toBe('first')
      expect((await settle(honest, silent)).wrong).toBe('second')
    },
  )

  test('is lost by whoever shows other nodes, leaves or marks than it committed to', async () => {
    const liar = device(300)
    const other = device(301)
    const flip = (bytes: Uint8Array | null) => bytes?.map((byte, i) => (i === 0 ? byte ^ 1 : byte)) ?? null
    const tricks: Partial<Disputant>[] = [
      { nodes: async (...asked) => (await liar.nodes(...asked))!.map((node) => flip(node)!) },
      { leaf: async (...asked) => flip(await liar.leaf(...asked)) },
      { mark: (segments) => other.mark(segments) },
      { trace: async (segment) => (await liar.trace(segment))!.map((root) => flip(root)!) },
    ]
    for (const trick of tricks) expect((await settle({ ...liar, ...trick }, honest)).wrong).toBe('first')
  })
})
