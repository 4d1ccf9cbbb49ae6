import { equalBytes } from '../../core/bytes/bytes.ts'
import { toHex } from '../../core/bytes/hex.ts'
import { applyBlock } from '../../core/chain/applyBlock.ts'
import { decodeBlock } from '../../core/chain/blockBytes.ts'
import type { ChainState, Checks } from '../../core/chain/chainState.ts'
import { whenDue } from '../../core/chain/consensus/consensusNode.ts'
import { checksKnowing, type Drawn, type Lot, lotsAfter } from '../../core/chain/envelopes.ts'
import { genesisState, stateFromBytes, stateRoot } from '../../core/chain/genesisState.ts'
import { type Genesis, genesisHash } from '../../core/chain/genesisType.ts'
import { type Problem, problem } from '../../core/chain/problems.ts'
import { blockHash } from '../../core/chain/signing.ts'
import type { Block } from '../../core/chain/ssz.ts'
import type { ChainStore, ChainWrite, StoredBlock } from '../../ports/chainStore.ts'
import { BlockTree } from './blockTree.ts'
import { fault } from './faults.ts'

export interface NodeDeps {
  readonly genesis: Genesis
  readonly store: ChainStore
  readonly checks: Checks
  /** The slot that the clock is in. */
  slotNow(): number
  /** A whole state is written with every block whose height is a multiple of this: so many blocks a restart may replay. */
  readonly stateEvery?: number
}

const STATE_EVERY = 100
/** While many blocks come at once: to apply them again is cheaper than to write so many states. */
const STATE_EVERY_IN_ROWS = 1_000
/** States kept in memory; the others are found again from the store. */
const MOST_STATES = 64

/** What became of a block: `orphan` needs its parent first, `early` its slot; both may come again. */
export type Import =
  | {
      readonly kind: 'added'
      readonly id: string
      readonly facts: StoredBlock
      readonly block: Block
      readonly state: ChainState
    }
  | { readonly kind: 'known'; readonly id: string }
  | { readonly kind: 'orphan'; readonly parent: string }
  | { readonly kind: 'early'; readonly slot: number }
  | { readonly kind: 'refused'; readonly problem: Problem }

/** What a row of blocks led to before it is written. */
interface Draft {
  tree: BlockTree
  readonly states: Map<string, ChainState>
  /** Those to be written as a whole. */
  readonly whole: Map<string, ChainState>
  readonly blocks: ChainWrite['blocks'][number][]
  readonly stateEvery: number
}

/** The chain of one node: blocks in, checked in full, stored, and the best of the branches as its head. */
export class LocalChain {
  private readonly deps: NodeDeps
  private readonly genesisId: string
  private tree: BlockTree
  private states: Map<string, ChainState>
  private last: Promise<unknown> = Promise.resolve()

  private constructor(deps: NodeDeps, tree: BlockTree) {
    this.deps = deps
    this.genesisId = toHex(genesisHash(deps.genesis))
    this.tree = tree
    this.states = new Map()
  }

  /** Goes on where the store ends. */
  static async open(deps: NodeDeps): Promise<LocalChain> {
    const { store, genesis } = deps
    const root = (await store.facts(store.final.id))!
    const above = await store.above(root.height)
    const node = new LocalChain(deps, new BlockTree(root, above, Number(genesis.params.epochSlots)))
    await node.stateOf(node.head.id, node.states)
    return node
  }

  get head(): StoredBlock {
    return this.tree.best
  }

  get final(): StoredBlock {
    return this.tree.root
  }

  /** Everything above the last final block, of every branch, parents first. */
  above(): Promise<readonly StoredBlock[]> {
    return this.deps.store.above(this.final.height)
  }

  isInTree(id: string): boolean {
    return this.tree.get(id) !== undefined
  }

  /** The state after the head. */
  headState(): Promise<ChainState> {
    return this.alone(() => this.stateOf(this.head.id, this.states))
  }

  /** The lots of blocks that are still to come, as far as the head can tell; it waits for nothing. */
  lotsOf(row: readonly Uint8Array[]): (Lot | null)[] {
    const state = this.states.get(this.head.id)
    return state === undefined ? row.map(() => null) : lotsAfter(state, row)
  }

  /** The state after a block of the tree. */
  stateAfter(id: string): Promise<ChainState> {
    return this.alone(() => this.stateOf(id, this.states))
  }

  async importBlock(bytes: Uint8Array): Promise<Import> {
    return (await this.importChain([bytes]))[0]!
  }

  /** The best branch goes through this block of the tree: voters are locked on it. */
  anchorAt(id: string): Promise<void> {
    return this.alone(async () => {
      const tree = this.tree.copy()
      tree.anchorAt(id)
      await this.mark(tree)
    })
  }

  /** A block of the tree is final: voters have signed it, and no block records it yet. */
  finalise(id: string, notes: NonNullable<ChainWrite['notes']>): Promise<void> {
    return this.alone(() => this.mark(this.tree.get(id) === undefined ? this.tree : this.tree.finalised(id), notes))
  }

  /** Small values that must be on disk before the next step. */
  keepNotes(notes: NonNullable<ChainWrite['notes']>): Promise<void> {
    return this.alone(() => this.mark(this.tree, notes))
  }

  private async mark(tree: BlockTree, notes: NonNullable<ChainWrite['notes']> = {}): Promise<void> {
    await this.deps.store.write({ blocks: [], states: [], head: tree.best.id, final: tree.root.id, notes })
    this.tree = tree
  }

  /**
   * Blocks in their order, up to the first that is not taken; those before it are stored together. One call at a time.
   * `drawn`: signatures of headers and transactions were checked elsewhere, and so were these proofs.
   */
  importChain(row: readonly Uint8Array[], drawn: readonly Drawn[] | null = null): Promise<readonly Import[]> {
    return this.alone(async () => {
      const stateEvery = row.length > 1 ? STATE_EVERY_IN_ROWS : STATE_EVERY
      const copies = { tree: this.tree.copy(), states: new Map(this.states) }
      const draft: Draft = { ...copies, whole: new Map(), blocks: [], stateEvery }
      const checks = drawn === null ? this.deps.checks : checksKnowing(this.deps.checks, drawn)
      const results: Import[] = []
      for (const bytes of row) {
        const result = await this.take(bytes, draft, checks)
        results.push(result)
        if (result.kind !== 'added' && result.kind !== 'known') break
      }
      if (draft.blocks.length > 0) await this.keep(draft)
      return results
    })
  }

  /** Nothing is known here before it is on disk: a write that fails leaves the node as it was. */
  private async keep({ tree, states, whole, blocks }: Draft): Promise<void> {
    const serialized = [...whole].map(([id, { view }]) => ({ id, bytes: view.serialize() }))
    await this.deps.store.write({ blocks, states: serialized, head: tree.best.id, final: tree.root.id })
    this.tree = tree
    this.states = states
  }

  private async take(bytes: Uint8Array, draft: Draft, checks: Checks): Promise<Import> {
    const block = decodeBlock(bytes)
    if (block === null) return refused('MALFORMED', 'block')
    const { header } = block
    const id = toHex(blockHash(header))
    if (draft.tree.get(id) !== undefined) return { kind: 'known', id }
    const parent = toHex(header.parent)
    const below = draft.tree.get(parent)
    if (below === undefined) return await this.placeOfStranger(id, parent)
    if (header.slot <= BigInt(below.slot)) return refused('SLOT', 'header.slot')
    // A number from here on: what lies further ahead than the clock is not looked at.
    const slot = Number(header.slot)
    if (whenDue(slot, this.deps.slotNow()) !== 'now') return { kind: 'early', slot }
    const applied = applyBlock(await this.stateOf(parent, draft.states), block, checks)
    if ('problem' in applied) return { kind: 'refused', problem: applied.problem }
    const { state, win } = applied
    const facts: StoredBlock = { id, parent, height: below.height + 1, slot, author: toHex(header.author), win }
    draft.blocks.push({ facts, bytes })
    if (facts.height % (this.deps.stateEvery ?? draft.stateEvery) === 0) draft.whole.set(id, state)
    this.remember(draft.states, id, state)
    draft.tree.add(facts)
    // Whichever branch records that an ancestor is final: its voters have signed it.
    const { slot: finalSlot, hash } = state.view.final
    if (finalSlot > BigInt(draft.tree.root.slot)) {
      draft.tree = draft.tree.finalised(toHex(hash))
      for (const old of draft.states.keys()) if (draft.tree.get(old) === undefined) draft.states.delete(old)
    }
    return { kind: 'added', id, facts, block, state }
  }

  /** Its parent is not in the tree: unknown, or so old that what is final rules the block out. */
  private async placeOfStranger(id: string, parent: string): Promise<Import> {
    if ((await this.deps.store.facts(id)) !== null) return { kind: 'known', id }
    return (await this.deps.store.facts(parent)) === null ? { kind: 'orphan', parent } : refused('OLD', 'header.parent')
  }

  private remember(states: Map<string, ChainState>, id: string, state: ChainState): void {
    states.set(id, state)
    for (const old of states.keys()) {
      if (states.size <= MOST_STATES) return
      states.delete(old)
    }
  }

  /** The state after a known block: at hand, stored, or from the nearest one before it by the blocks between. */
  private async stateOf(id: string, states: Map<string, ChainState>): Promise<ChainState> {
    const missing: Block[] = []
    let at = id
    let state = states.get(at) ?? (await this.storedState(at))
    while (state === null) {
      const block = await this.storedBlock(at)
      missing.push(block)
      at = toHex(block.header.parent)
      state = states.get(at) ?? (await this.storedState(at))
    }
    // Signatures were checked before the block was stored; roots are compared again.
    const checks = { ...this.deps.checks, envelopesChecked: true }
    for (const block of missing.reverse()) {
      const applied = applyBlock(state, block, checks)
      if ('problem' in applied) throw fault('CHAIN_NOT_REPLAYED', { id, why: applied.problem.code })
      state = applied.state
    }
    if (!states.has(id)) this.remember(states, id, state)
    return state
  }

  private async storedBlock(id: string): Promise<Block> {
    const bytes = await this.deps.store.block(id)
    const block = bytes === null ? null : decodeBlock(bytes)
    if (block === null || toHex(blockHash(block.header)) !== id)
      throw fault('CHAIN_NOT_REPLAYED', { id, why: 'its bytes are gone' })
    return block
  }

  private async storedState(id: string): Promise<ChainState | null> {
    const { genesis, store } = this.deps
    const bytes = await store.state(id)
    if (bytes === null) return id === this.genesisId ? genesisState(genesis) : null
    const { header } = await this.storedBlock(id)
    const state = stateFromBytes(genesis, blockHash(header), bytes)
    if (state === null || !equalBytes(stateRoot(state), header.stateRoot))
      throw fault('CHAIN_NOT_REPLAYED', { id, why: 'the state beside it is another' })
    return state
  }

  private alone<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.last.then(work, work)
    this.last = turn.catch(() => {})
    return turn
  }
}

const refused = (code: Problem['code'], where: string): Import => ({ kind: 'refused', problem: problem(code, where) })
