import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { EPOCH_SLOTS, tipsOf, tree } from '../../../../test/support/blockTree.ts'
import { ancestorAt, type ChainBlock, childOf, contains, forkOf, genesisBlock } from './chainBlock.ts'
import { isBetter } from './forkChoice.ts'
import { densestOf, type Joining, joinChain } from './joinChain.ts'

const randomness = new Uint8Array(32)

/** A branch with a primary block at these slots and a secondary at all others of a range. */
function branch(from: ChainBlock, name: string, slots: number, isPrimary: (slot: number) => boolean): ChainBlock {
  let tip = from
  for (let slot = from.slot + 1; slot <= from.slot + slots; slot++) {
    const win = isPrimary(slot) ? { arrival: 1n, randomness } : null
    tip = childOf(tip, { id: `${name}${slot}`, slot, author: 'a', win }, EPOCH_SLOTS)
  }
  return tip
}

describe('density', () => {
  test('does not depend on the order or on repetitions, and picks a tip', () => {
    fc.assert(
      fc.property(tree, fc.infiniteStream(fc.nat(1000)), (blocks, chance) => {
        const tips = tipsOf(blocks)
        const chosen = densestOf(tips, EPOCH_SLOTS)
        expect(tips).toContain(chosen)
        const mixed = [...tips, ...tips].sort(() => (chance.next().value! % 2 === 0 ? -1 : 1))
        expect(densestOf(mixed, EPOCH_SLOTS)).toBe(chosen)
      }),
    )
  })

  test('is the usual fork choice while every fork is younger than two epochs', () => {
    fc.assert(
      fc.property(tree, (blocks) => {
        const tips = tipsOf(blocks)
        const best = tips.reduce((best, tip) => (isBetter(tip, best) ? tip : best))
        expect(densestOf(tips, 1000)).toBe(best)
      }),
    )
  })

  test('looks at nothing later than two epochs after the fork', () => {
    fc.assert(
      fc.property(tree, fc.nat(60), fc.nat(60), fc.nat(60), (blocks, left, right, more) => {
        const [a, b] = [blocks[left % blocks.length]!, blocks[right % blocks.length]!]
        const fork = forkOf(a, b)
        if (a === fork || b === fork) return
        const end = fork.slot + 2 * EPOCH_SLOTS
        const [early, late] = [ancestorAt(a, end), ancestorAt(b, end)]
        const expected = isBetter(early, late) ? a : b
        expect(densestOf([a, b], EPOCH_SLOTS)).toBe(expected)
        // What the loser adds later, however dense, changes nothing; nor does what either lacks.
        const loser = expected === a ? b : a
        const start = childOf(ancestorAt(loser, end), { id: 'x', slot: end + 1, author: 'a', win: null }, EPOCH_SLOTS)
        expect(densestOf([expected, branch(start, 'more', more, () => true)], EPOCH_SLOTS)).toBe(expected)
        expect(contains(a, densestOf([early, late], EPOCH_SLOTS))).toBe(expected === a)
      }),
    )
  })

  test('attack 24: a private past that is thinner after the fork loses, whatever it heaps up later', () => {
    const genesis = genesisBlock('00')
    const shared = branch(genesis, 's', 35, (slot) => slot % 4 === 0)
    const honest = branch(shared, 'h', 60, (slot) => slot % 4 === 0)
    const forged = branch(
      branch(shared, 'f', 20, (slot) => slot % 12 === 0),
      'g',
      400,
      () => true,
    )
    expect(isBetter(forged, honest)).toBe(true)
    expect(densestOf([forged, honest], EPOCH_SLOTS)).toBe(honest)
  })

  test('goes from fork to fork, since two at a time could lead in a circle', () => {
    const genesis = genesisBlock('00')
    const shared = branch(genesis, 's', 15, () => false)
    // Ahead in the two epochs after the first fork, behind in those after the second.
    const a = branch(
      branch(shared, 'a', 6, () => true),
      'b',
      40,
      () => false,
    )
    const b = branch(
      branch(shared, 'c', 6, () => false),
      'd',
      40,
      () => true,
    )
    const c = branch(genesis, 'e', 60, (slot) => slot <= 15 && slot % 5 === 0)
    const pairs = [
      [a, b],
      [b, c],
      [a, c],
    ] as const
    const winners = pairs.map((pair) => densestOf(pair, EPOCH_SLOTS).id)
    expect(winners).toEqual([b.id, c.id, a.id])
    expect(densestOf([a, b, c], EPOCH_SLOTS)).toBe(densestOf([c, b, a], EPOCH_SLOTS))
  })
})

describe('a node that joins', () => {
  const genesis = genesisBlock('00')
  const shared = branch(genesis, 's', 30, (slot) => slot % 4 === 0)
  const honest = branch(shared, 'h', 80, (slot) => slot % 4 === 0)
  const forged = branch(shared, 'f', 80, (slot) => slot % 2 === 0)
  const base: Joining = { epochSlots: EPOCH_SLOTS, now: 110, checkpoint: null, branches: [] }
  const shown = (tip: ChainBlock, final = genesis) => ({ tip, final })
  const checkpoint = { id: ancestorAt(honest, 60).id, slot: 60 }

  test('follows the denser branch without a checkpoint, and the one with the checkpoint where it has one', () => {
    const branches = [shown(honest), shown(forged)]
    expect(joinChain({ ...base, branches })).toEqual({ kind: 'follow', tip: forged })
    expect(joinChain({ ...base, branches, checkpoint })).toEqual({ kind: 'follow', tip: honest })
  })

  test('eclipsed: follows nothing that lacks its checkpoint, and goes on when somebody has it', () => {
    expect(joinChain({ ...base, branches: [shown(forged)], checkpoint })).toEqual({ kind: 'withoutCheckpoint' })
    const ahead = { id: 'h999', slot: 999 }
    expect(joinChain({ ...base, branches: [shown(honest)], checkpoint: ahead }).kind).toBe('withoutCheckpoint')
  })

  test('takes no checkpoint older than a week', () => {
    const now = checkpoint.slot + 168 * EPOCH_SLOTS
    const branches = [shown(honest)]
    expect(joinChain({ ...base, branches, checkpoint, now }).kind).toBe('follow')
    expect(joinChain({ ...base, branches, checkpoint, now: now + 1 })).toEqual({ kind: 'oldCheckpoint' })
  })

  test('what is final comes before density; two final blocks that exclude each other stop it', () => {
    const final = ancestorAt(honest, 70)
    expect(joinChain({ ...base, branches: [shown(forged), shown(honest, final)] })).toEqual({
      kind: 'follow',
      tip: honest,
    })
    const other = ancestorAt(forged, 60)
    const both = [shown(forged, other), shown(honest, final)]
    expect(joinChain({ ...base, branches: both })).toEqual({ kind: 'conflict', finals: [final, other] })
    // A checkpoint settles it: people have said which one is right.
    expect(joinChain({ ...base, branches: both, checkpoint })).toEqual({ kind: 'follow', tip: honest })
  })
})
