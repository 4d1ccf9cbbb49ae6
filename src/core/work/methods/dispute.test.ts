import { describe, expect, test } from 'vitest'
import { PLAIN_OPS, plainEngine, plainProduct } from '../../../../test/support/plainProduct.ts'
import { concatBytes } from '../../bytes/bytes.ts'
import { EngineRun, PLAIN_HASHER } from '../engineRun.ts'
import { patchRunner } from '../runPatch.ts'
import { levelsOver, tensorLeaf } from '../tensorTree.ts'
import { type Disputant, settleDispute } from './dispute.ts'
import { engineDisputant } from './engineDisputant.ts'

/** 1,000 transitions of one row each. */
const { work, given } = plainProduct({ rows: 1000, columns: 300, k: 8, block: 1 })
const firstRoot = new Uint8Array(32)
const plain = async () => PLAIN_HASHER

/** A device that errs in one entry of one row; none where `row` is null. */
function device(row: number | null): Disputant {
  let product = 0
  const engine = plainEngine((sum, at) => (product === row && at === 211 ? sum ^ 4 : sum))
  const run = new EngineRun(engine, work, given)
  const marks = work.ends.map((_, segment) => {
    product = segment
    return run.advance(segment)
  })
  const answers = engineDisputant(work, run, plain, firstRoot, marks)
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
    'ends with nothing shown of whoever has no %s',
    async (name) => {
      const silent = { ...device(300), [name]: async () => null }
      expect(await settle(silent, honest)).toMatchObject({ wrong: 'first', isSilent: true })
      expect(await settle(honest, silent)).toMatchObject({ wrong: 'second', isSilent: true })
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
    for (const trick of tricks)
      expect(await settle({ ...liar, ...trick }, honest)).toMatchObject({ wrong: 'first', isSilent: false })
  })
})

/** Leaves of a tensor, as some replica has them in its tree. */
type Leaves = readonly Uint8Array[]

describe('attack 204: a replica whose tree is that of no tensor', () => {
  // Three leaves, the last one shorter, and one of padding.
  const wide = plainProduct({ rows: 3, columns: 700, k: 8, block: 1 })
  const run = new EngineRun(plainEngine(), wide.work, wide.given)
  const marks = wide.work.ends.map((_, segment) => run.advance(segment))
  const right = engineDisputant(wide.work, run, plain, firstRoot, marks)
  const at = { transition: 0, step: 0, output: 0 }
  const runner = patchRunner(plainEngine(), PLAIN_OPS)

  async function liarWith(change: (leaves: Leaves) => Leaves): Promise<Disputant> {
    const told = await Promise.all([0, 1, 2].map((leaf) => right.leaf(1, at, leaf)))
    const leaves = change(told as Leaves)
    const levels = levelsOver(leaves.map(tensorLeaf))
    const root = levels.at(-1)![0]!
    const said = marks.map((mark, segment) => (segment === 0 ? mark : { ...mark, root }))
    return {
      ...engineDisputant(wide.work, run, plain, firstRoot, said),
      trace: async () => [root],
      nodes: async (_, __, level, from, count) => levels[level]!.slice(from, from + count),
      leaf: async (_, __, leaf) => leaves[leaf]!,
      patch: async () => ({ leaves: new Uint8Array(), proof: new Uint8Array() }),
    }
  }

  test.each<[string, (leaves: Leaves) => Leaves]>([
    ['something in the place of padding', (leaves) => [...leaves, Uint8Array.of(1)]],
    ['a first leaf that is longer', ([first, ...more]) => [concatBytes(first!, Uint8Array.of(1)), ...more]],
    ['a last leaf that is longer', ([a, b, last]) => [a!, b!, concatBytes(last!, Uint8Array.of(1))]],
    ['a leaf that is shorter', ([first, ...more]) => [first!.subarray(4), ...more]],
    ['a last leaf that is cut off', ([a, b, last]) => [a!, b!, last!.subarray(0, 8)]],
    ['an empty leaf', ([first, _, last]) => [first!, new Uint8Array(), last!]],
  ])('loses with %s', async (_, change) => {
    const liar = await liarWith(change)
    expect((await settleDispute(wide.work, [liar, right], runner)).wrong).toBe('first')
    expect((await settleDispute(wide.work, [right, liar], runner)).wrong).toBe('second')
  })
})
