import { type ChainBlock, childOf, rootBlock } from '../../core/chain/consensus/chainBlock.ts'
import { ForkChoice } from '../../core/chain/consensus/forkChoice.ts'
import type { StoredBlock } from '../../ports/chainStore.ts'

/** A block of the tree, and what is stored of it. */
interface Leaf {
  readonly facts: StoredBlock
  readonly block: ChainBlock
}

/** The last final block and all that stand on it. */
export class BlockTree {
  readonly root: StoredBlock
  private readonly leaves: Map<string, Leaf>
  private readonly choice: ForkChoice
  private readonly epochSlots: number
  /** The block that the best branch must go through: the root, or the lock of the voters on it. */
  private anchor: string

  /** Of `above`, parents first, what does not stand on the root is left out. */
  constructor(root: StoredBlock, above: Iterable<StoredBlock>, epochSlots: number, anchor = root.id) {
    this.root = root
    this.epochSlots = epochSlots
    const block = rootBlock(root, epochSlots)
    this.leaves = new Map([[root.id, { facts: root, block }]])
    this.choice = new ForkChoice(block)
    this.anchor = root.id
    for (const facts of above) this.add(facts)
    this.anchorAt(anchor)
  }

  /** The tip to build on (§3.5). */
  get best(): StoredBlock {
    return this.leaves.get(this.choice.best.id)!.facts
  }

  get(id: string): StoredBlock | undefined {
    return this.leaves.get(id)?.facts
  }

  add(facts: StoredBlock): void {
    const parent = this.leaves.get(facts.parent)
    if (parent === undefined || this.leaves.has(facts.id)) return
    const block = childOf(parent.block, facts, this.epochSlots)
    this.leaves.set(facts.id, { facts, block })
    this.choice.add(block)
  }

  /** From now on the best branch goes through this block; one that is not in the tree changes nothing. */
  anchorAt(id: string): void {
    const leaf = this.leaves.get(id)
    if (leaf === undefined) return
    this.anchor = id
    this.choice.anchorAt(leaf.block)
  }

  /** A tree of its own with the same blocks. */
  copy(): BlockTree {
    return new BlockTree(this.root, this.above(), this.epochSlots, this.anchor)
  }

  /** The tree after a block of it became final: what does not stand on it is forgotten. */
  finalised(id: string): BlockTree {
    return new BlockTree(this.leaves.get(id)!.facts, this.above(), this.epochSlots, this.anchor)
  }

  private *above(): Iterable<StoredBlock> {
    for (const { facts } of this.leaves.values()) yield facts
  }
}
