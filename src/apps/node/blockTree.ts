import { type ChainBlock, childOf, rootBlock } from '../../core/chain/consensus/chainBlock.ts'
import { isBetter } from '../../core/chain/consensus/forkChoice.ts'
import type { StoredBlock } from '../../ports/chainStore.ts'

/** A block of the tree, and what is stored of it. */
interface Leaf {
  readonly facts: StoredBlock
  readonly block: ChainBlock
}

/** The last final block and all that stand on it. */
export class BlockTree {
  readonly root: StoredBlock
  private top: Leaf
  private readonly leaves: Map<string, Leaf>
  private readonly epochSlots: number

  /** Of `above`, parents first, what does not stand on the root is left out. */
  constructor(root: StoredBlock, above: Iterable<StoredBlock>, epochSlots: number) {
    this.root = root
    this.epochSlots = epochSlots
    this.top = { facts: root, block: rootBlock(root, epochSlots) }
    this.leaves = new Map([[root.id, this.top]])
    for (const facts of above) this.add(facts)
  }

  /** The tip to build on (§3.5). */
  get best(): StoredBlock {
    return this.top.facts
  }

  get(id: string): StoredBlock | undefined {
    return this.leaves.get(id)?.facts
  }

  add(facts: StoredBlock): void {
    const parent = this.leaves.get(facts.parent)
    if (parent === undefined || this.leaves.has(facts.id)) return
    const leaf = { facts, block: childOf(parent.block, facts, this.epochSlots) }
    this.leaves.set(facts.id, leaf)
    if (isBetter(leaf.block, this.top.block)) this.top = leaf
  }

  /** A tree of its own with the same blocks. */
  copy(): BlockTree {
    return new BlockTree(this.root, this.above(), this.epochSlots)
  }

  /** The tree after a block of it became final: what does not stand on it is forgotten. */
  finalised(id: string): BlockTree {
    return new BlockTree(this.leaves.get(id)!.facts, this.above(), this.epochSlots)
  }

  private *above(): Iterable<StoredBlock> {
    for (const { facts } of this.leaves.values()) yield facts
  }
}
