/** What the lottery gave a primary block. */
export interface Win {
  /** When its ticket came in (`arrivalOf`): the earlier one wins a tie. */
  readonly arrival: bigint
  /** rho, its share of the randomness of later epochs. */
  readonly randomness: Uint8Array
}

/** A valid block as consensus sees it: its place in the tree. Immutable, so that all nodes of a process can share it. */
export interface ChainBlock {
  /** Hash of the header, in hexadecimal. */
  readonly id: string
  readonly parent: ChainBlock | null
  readonly slot: number
  readonly epoch: number
  /** Key of the author, in hexadecimal; empty in the genesis. */
  readonly author: string
  /** Null in a secondary block and in the genesis. */
  readonly win: Win | null
  /** Score of all blocks up to this one: 4 for a primary, 1 for a secondary (§3.5). */
  readonly score: number
  readonly height: number
  /** The first block of this epoch on this branch. */
  readonly epochStart: ChainBlock
  /** An ancestor far back, so that a search takes steps in the logarithm of its distance. */
  readonly jump: ChainBlock | null
}

/** What a header says, once it is known to be valid. */
export type BlockFacts = Pick<ChainBlock, 'id' | 'slot' | 'author' | 'win'>

export const PRIMARY_SCORE = 4
export const SECONDARY_SCORE = 1

type Draft = Omit<ChainBlock, 'epochStart'> & { epochStart: ChainBlock | null }

export function genesisBlock(id: string): ChainBlock {
  return rootBlock({ id, slot: 0, author: '', win: null }, 1)
}

/** A block whose ancestors no longer matter, such as the last final one: scores and heights count from it. */
export const rootBlock = (facts: BlockFacts, epochSlots: number): ChainBlock =>
  place(facts, null, Math.floor(facts.slot / epochSlots))

export function childOf(parent: ChainBlock, facts: BlockFacts, epochSlots: number): ChainBlock {
  if (facts.slot <= parent.slot) throw new RangeError('a block comes after its parent')
  return place(facts, parent, Math.floor(facts.slot / epochSlots))
}

/** All fields by name and in one order: blocks are read so often that their shape in memory counts. */
function place({ id, slot, author, win }: BlockFacts, parent: ChainBlock | null, epoch: number): ChainBlock {
  const score = parent === null ? 0 : parent.score + (win === null ? SECONDARY_SCORE : PRIMARY_SCORE)
  const [height, jump] = parent === null ? [0, null] : [parent.height + 1, jumpFrom(parent)]
  const block: Draft = { id, parent, slot, epoch, author, win, score, height, epochStart: null, jump }
  block.epochStart = parent?.epoch === epoch ? parent.epochStart : (block as ChainBlock)
  return block as ChainBlock
}

/** Two equal jumps in a row make one of twice the length: as in a skew-binary number. */
function jumpFrom(parent: ChainBlock): ChainBlock {
  const near = parent.jump
  const far = near?.jump
  if (near && far && parent.height - near.height === near.height - far.height) return far
  return parent
}

/** The last block of the branch at this slot or before it. */
export function ancestorAt(block: ChainBlock, slot: number): ChainBlock {
  let at = block
  while (at.slot > slot && at.parent !== null) at = at.jump !== null && at.jump.slot > slot ? at.jump : at.parent
  return at
}

/** The first block of the branch after this slot; `tip` is after it. */
export function firstAfter(tip: ChainBlock, slot: number): ChainBlock {
  let at = tip
  while (at.parent !== null && at.parent.slot > slot) at = at.jump !== null && at.jump.slot > slot ? at.jump : at.parent
  return at
}

/** Whether the branch that ends in `tip` goes through `block`. */
export const contains = (tip: ChainBlock, block: ChainBlock): boolean =>
  tip.slot >= block.slot && ancestorAt(tip, block.slot) === block

/** The last block that two branches share. */
export function forkOf(a: ChainBlock, b: ChainBlock): ChainBlock {
  let [left, right] = [atHeight(a, b.height), atHeight(b, a.height)]
  while (left !== right) {
    // Both have the same height, so their jumps have the same length.
    const far = left.jump !== right.jump
    left = (far ? left.jump : left.parent)!
    right = (far ? right.jump : right.parent)!
  }
  return left
}

function atHeight(block: ChainBlock, height: number): ChainBlock {
  let at = block
  while (at.height > height) at = at.jump !== null && at.jump.height >= height ? at.jump : at.parent!
  return at
}

/** The first block of the branch whose epoch is later than this one; null if it has none yet. */
export function firstAfterEpoch(tip: ChainBlock, epoch: number): ChainBlock | null {
  if (tip.epoch <= epoch) return null
  let start = tip.epochStart
  while (start.parent !== null && start.parent.epoch > epoch) start = start.parent.epochStart
  return start
}

/** The blocks after `from` up to `tip`, oldest first; null if the branch does not go through `from`. */
export function pathBetween(from: ChainBlock, tip: ChainBlock): ChainBlock[] | null {
  if (!contains(tip, from)) return null
  const path: ChainBlock[] = []
  for (let at = tip; at !== from; at = at.parent!) path.push(at)
  return path.reverse()
}
