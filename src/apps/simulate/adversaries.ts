import { type ChainBlock, contains } from '../../core/chain/consensus/chainBlock.ts'
import { isBetter } from '../../core/chain/consensus/forkChoice.ts'
import { PREVOTE } from '../../core/chain/recordCommit.ts'
import type { Behaviour, SimNode } from './simulation.ts'

/** Does what the protocol asks, at once. */
export const honest: Behaviour = {
  name: 'honest',
  propose: (node, slot, isPrimary) => node.publish(node.make(node.consensus.head, slot, isPrimary)),
  vote: (node, vote) => node.sendVote(node.sign(vote)),
}

/** Computes, but sends nothing. */
export const silent: Behaviour = { name: 'silent', propose: () => {}, vote: () => {} }

const isLeft = (node: number): boolean => node % 2 === 0
const isRight = (node: number): boolean => node % 2 !== 0

/** Two blocks for each slot it wins and two votes in each round, one for each half of the network. */
export const equivocate: Behaviour = {
  name: 'equivocate',
  propose(node, slot, isPrimary) {
    const parent = node.consensus.head
    const second = node.make(parent, slot, isPrimary, 1)
    node.publish(node.make(parent, slot, isPrimary), isLeft)
    node.publish(second, isRight)
  },
  vote(node, vote) {
    const other = otherTarget(node, vote.target)
    node.sendVote(node.sign(vote), isLeft)
    if (other !== null) node.sendVote(node.sign({ ...vote, target: other.id, targetSlot: other.slot }), isRight)
    else node.sendVote(node.sign(vote), isRight)
  },
  onBlock: remember,
}

/** Prevotes against its own lock, for whatever branch it likes, and says that it never had one. */
export const breakLocks: Behaviour = {
  name: 'breakLocks',
  propose: honest.propose,
  vote(node, vote) {
    const other = vote.kind === PREVOTE ? otherTarget(node, vote.target) : null
    const target = other === null ? {} : { target: other.id, targetSlot: other.slot }
    node.sendVote(node.sign(vote.kind === PREVOTE ? { ...vote, ...target, lockRound: 0 } : vote))
  },
  onBlock: remember,
}

/** Sends votes so late that they count for nothing or for another round, and blocks at the end of their slot. */
export const delay: Behaviour = {
  name: 'delay',
  propose: honest.propose,
  vote(node, vote) {
    const { slotMs, rules } = node.simulation.options
    const rounds = node.simulation.options.chance.unit() * 1.5
    node.sendVote(node.sign(vote), undefined, Math.round(rounds * rules.roundSlots * slotMs))
  },
}

/** Builds in private, and shows its branch when it beats the public one, to throw out the blocks of others. */
export const withhold: Behaviour = {
  name: 'withhold',
  propose(node, slot, isPrimary) {
    const known = privateTips.get(node)
    const parent = known !== undefined && contains(known, node.consensus.final) ? known : node.consensus.head
    const block = parent.slot < slot ? node.make(parent, slot, isPrimary) : null
    if (block !== null) privateTips.set(node, block)
  },
  vote: honest.vote,
  onSlot(node) {
    const tip = privateTips.get(node)
    if (tip === undefined) return
    const { head, final } = node.consensus
    if (!contains(tip, final)) return void privateTips.delete(node)
    // Shown as soon as the public branch comes close: later it would lose.
    if (isBetter(tip, head) && tip.score - head.score <= 4) {
      for (const block of pathTo(node, tip)) node.publish(block)
      privateTips.delete(node)
    } else if (tip.score + 8 < head.score) privateTips.delete(node)
  },
}

const privateTips = new WeakMap<SimNode, ChainBlock>()

function pathTo(node: SimNode, tip: ChainBlock): ChainBlock[] {
  const path: ChainBlock[] = []
  for (let at = tip; !node.consensus.has(at.id); at = at.parent!) path.push(at)
  return path.reverse()
}

/** Never builds on blocks of the node with number 0, and so tries to keep them out of the chain. */
export const censor: Behaviour = {
  name: 'censor',
  propose(node, slot, isPrimary) {
    const { head } = node.consensus
    const victim = node.simulation.options.accounts[0]!.key
    const isCensored = head.author === victim && head.parent !== null && head !== node.consensus.final
    node.publish(node.make(isCensored ? head.parent! : head, slot, isPrimary))
  },
  vote: honest.vote,
}

/** Shows blocks of slots that have not begun, to have more of them. */
export const early: Behaviour = {
  name: 'early',
  propose: honest.propose,
  vote: honest.vote,
  onSlot(node, slot) {
    for (const ahead of [1, 2, 3]) node.publish(node.make(node.consensus.head, slot + ahead, true))
  },
}

export const BYZANTINE: readonly Behaviour[] = [equivocate, breakLocks, delay, withhold, silent, censor, early]

/** The last blocks that a node saw, to vote for something else than the protocol asks. */
const recentOf = new WeakMap<SimNode, ChainBlock[]>()

function remember(node: SimNode, block: ChainBlock): void {
  const recent = recentOf.get(node) ?? []
  recentOf.set(node, recent)
  recent.push(block)
  if (recent.length > 12) recent.shift()
}

/** A block that conflicts with the target if it knows one, or else any other it knows. */
function otherTarget(node: SimNode, target: string): ChainBlock | null {
  const recent = recentOf.get(node) ?? []
  const { final } = node.consensus
  const able = recent.filter((block) => block.id !== target && contains(block, final))
  return able.find((block) => !contains(node.consensus.head, block)) ?? able[0] ?? null
}
