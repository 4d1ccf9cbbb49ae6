import fc from 'fast-check'
import { type ChainBlock, childOf, genesisBlock } from '../../src/core/chain/consensus/chainBlock.ts'

export const EPOCH_SLOTS = 10
const randomness = new Uint8Array(32)

/** A tree from numbers: each block names an earlier one as parent, how many slots it skips, and its luck, 0 for a secondary. */
export const tree = fc
  .array(fc.tuple(fc.nat(30), fc.integer({ min: 1, max: 7 }), fc.nat(4)), { minLength: 1, maxLength: 30 })
  .map((plan) => {
    const blocks = [genesisBlock('00')]
    for (const [back, skip, luck] of plan) {
      const parent = blocks[Math.max(0, blocks.length - 1 - (back % 6))]!
      const win = luck === 0 ? null : { arrival: BigInt(luck), randomness }
      const id = ((blocks.length * 37) % 101).toString(16).padStart(2, '0') + blocks.length
      blocks.push(childOf(parent, { id, slot: parent.slot + skip, author: 'a', win }, EPOCH_SLOTS))
    }
    return blocks
  })

/** The blocks that no other builds on. */
export const tipsOf = (blocks: readonly ChainBlock[]): ChainBlock[] =>
  blocks.filter((block) => !blocks.some(({ parent }) => parent === block))
