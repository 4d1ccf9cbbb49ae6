import { type ChainBlock, contains, forkOf } from './chainBlock.ts'

/**
 * Which of two branches is better (§3.5): more score; then the earlier arrival of the first primary after the fork, where
 * none loses; then the lower hash of the first block after the fork. Each step looks at what follows the fork alone,
 * so that "better" is an order: no three branches beat one another in a circle.
 */
export function isBetter(a: ChainBlock, b: ChainBlock): boolean {
  if (a.score !== b.score) return a.score > b.score
  if (a === b) return false
  const fork = forkOf(a, b)
  const [left, right] = [afterFork(a, fork), afterFork(b, fork)]
  if (left.arrival !== right.arrival) return isEarlier(left.arrival, right.arrival)
  return left.first < right.first
}

const isEarlier = (a: bigint | null, b: bigint | null): boolean => a !== null && (b === null || a < b)

/** What follows the fork: the arrival of the first primary, and the hash of the first block. */
function afterFork(tip: ChainBlock, fork: ChainBlock): { readonly arrival: bigint | null; readonly first: string } {
  let arrival: bigint | null = null
  let first = ''
  for (let at = tip; at !== fork; at = at.parent!) {
    if (at.win !== null) arrival = at.win.arrival
    first = at.id
  }
  return { arrival, first }
}

/** The branches a node knows, and the best of those that go through its anchor: the last final block, then the lock. */
export class ForkChoice {
  private tips: Set<ChainBlock>
  private anchor: ChainBlock
  private top: ChainBlock

  constructor(root: ChainBlock) {
    this.tips = new Set([root])
    this.anchor = root
    this.top = root
  }

  get best(): ChainBlock {
    return this.top
  }

  /** What the best branch goes through. */
  get through(): ChainBlock {
    return this.anchor
  }

  /** The ends of all branches that go through a block. */
  tipsOn(block: ChainBlock): ChainBlock[] {
    return [...this.tips].filter((tip) => contains(tip, block))
  }

  /** A block whose parent is known. */
  add(block: ChainBlock): void {
    this.tips.delete(block.parent!)
    this.tips.add(block)
    if (block.parent === this.top || (isBetter(block, this.top) && contains(block, this.anchor))) this.top = block
  }

  /** From now on the best branch goes through `anchor`, a known block. */
  anchorAt(anchor: ChainBlock): void {
    if (anchor === this.anchor) return
    this.anchor = anchor
    let best = anchor
    for (const tip of this.tips) if (contains(tip, anchor) && (best === anchor || isBetter(tip, best))) best = tip
    this.top = best
  }

  /** Forgets what a final block rules out. */
  prune(final: ChainBlock): void {
    for (const tip of this.tips) if (!contains(tip, final)) this.tips.delete(tip)
    if (this.tips.size === 0) this.tips.add(final)
  }
}
