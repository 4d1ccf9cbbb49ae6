import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { EPOCH_SLOTS, tipsOf, tree } from '../../../../test/support/blockTree.ts'
import { arrivalOf, thresholdFor } from '../threshold.ts'
import {
  ancestorAt,
  type ChainBlock,
  childOf,
  contains,
  firstAfterEpoch,
  forkOf,
  genesisBlock,
  pathBetween,
} from './chainBlock.ts'
import { ForkChoice, isBetter } from './forkChoice.ts'

const randomness = new Uint8Array(32)

const walk = (block: ChainBlock): ChainBlock[] => (block.parent ? [...walk(block.parent), block] : [block])

describe('the tree of blocks', () => {
  test('jumps find what a walk finds', () => {
    fc.assert(
      fc.property(tree, fc.nat(80), (blocks, slot) => {
        for (const block of blocks) {
          const path = walk(block)
          expect(ancestorAt(block, slot)).toBe(path.findLast((each) => each.slot <= slot) ?? path[0])
          expect(firstAfterEpoch(block, 1)).toBe(path.find(({ epoch }) => epoch > 1) ?? null)
          for (const other of blocks) {
            expect(contains(block, other)).toBe(path.includes(other))
            expect(forkOf(block, other)).toBe(path.findLast((each) => walk(other).includes(each)))
            const from = path.indexOf(other)
            expect(pathBetween(other, block)).toEqual(from < 0 ? null : path.slice(from + 1))
          }
        }
      }),
      { numRuns: 40 },
    )
  })

  test('a block comes after its parent', () => {
    const genesis = genesisBlock('00')
    expect(() => childOf(genesis, { id: '01', slot: 0, author: 'a', win: null }, EPOCH_SLOTS)).toThrow(RangeError)
  })
})

describe('fork choice', () => {
  test('"better" is an order: of two exactly one, and no three in a circle', () => {
    fc.assert(
      fc.property(tree, (blocks) => {
        const tips = tipsOf(blocks).slice(-6)
        for (const a of tips)
          for (const b of tips) {
            expect(isBetter(a, b) && isBetter(b, a)).toBe(false)
            if (a !== b) expect(isBetter(a, b) || isBetter(b, a)).toBe(true)
            for (const c of tips) if (isBetter(a, b) && isBetter(b, c)) expect(isBetter(a, c)).toBe(true)
          }
      }),
    )
  })

  test('the best branch goes through the anchor and does not depend on the order in which blocks came', () => {
    fc.assert(
      fc.property(tree, fc.nat(30), fc.infiniteStream(fc.nat(1000)), (blocks, at, chance) => {
        const anchor = blocks[at % blocks.length]!
        const expected = tipsOf(blocks)
          .filter((tip) => contains(tip, anchor))
          .reduce((best, tip) => (isBetter(tip, best) ? tip : best))
        for (const early of [true, false]) {
          const choice = new ForkChoice(blocks[0]!)
          const open = blocks.slice(1)
          const known = new Set([blocks[0]!])
          while (open.length > 0) {
            const able = open.filter(({ parent }) => known.has(parent!))
            const next = able[chance.next().value! % able.length]!
            open.splice(open.indexOf(next), 1)
            known.add(next)
            choice.add(next)
            if (early && next === anchor) choice.anchorAt(anchor)
          }
          choice.anchorAt(anchor)
          expect(choice.best).toBe(expected)
          choice.prune(anchor)
          expect(choice.best).toBe(expected)
        }
      }),
    )
  })

  test('a primary weighs four secondaries; then the earlier arrival; none loses; then the lower hash', () => {
    const genesis = genesisBlock('00')
    const child = (parent: ChainBlock, id: string, slot: number, arrival: bigint | null) =>
      childOf(parent, { id, slot, author: 'a', win: arrival === null ? null : { arrival, randomness } }, EPOCH_SLOTS)
    const line = (first: ChainBlock, count: number) => {
      let tip = first
      for (let i = 1; i < count; i++) tip = child(tip, `${first.id}${i}`, tip.slot + 1, null)
      return tip
    }
    const primary = child(genesis, 'aa', 3, 5n)
    expect(isBetter(primary, line(child(genesis, '01', 1, null), 3))).toBe(true)
    expect(isBetter(line(child(genesis, '01', 1, null), 5), primary)).toBe(true)
    expect(isBetter(primary, line(child(genesis, '01', 1, null), 4))).toBe(true)
    expect(isBetter(child(genesis, 'bb', 3, 4n), primary)).toBe(true)
    expect(isBetter(child(genesis, 'a9', 3, 5n), primary)).toBe(true)
  })
})

describe('the arrival of a ticket', () => {
  const threshold = thresholdFor({ numerator: 1n, denominator: 4n })
  const number = fc.bigInt({ min: 0n, max: 2n ** 254n - 1n })

  test('lies before the end of the slot if, and only if, the ticket wins', () => {
    const end = arrivalOf(2n ** 254n, 1n, 1n)
    fc.assert(
      fc.property(
        number,
        fc.bigInt({ min: 1n, max: 10n ** 9n }),
        fc.bigInt({ min: 0n, max: 10n ** 9n }),
        (y, w, rest) => {
          const [limit, total] = [threshold(w, w + rest), w + rest]
          // Right at the border the two roundings may differ, by 2^-240 of the whole.
          if (y < limit - 2n ** 16n) expect(arrivalOf(y, w, total) <= end).toBe(true)
          if (y > limit + 2n ** 16n) expect(arrivalOf(y, w, total) >= end).toBe(true)
          expect(arrivalOf(y + 2n ** 200n, w, total) > arrivalOf(y, w, total)).toBe(true)
        },
      ),
      { numRuns: 100 },
    )
  })
})
