import { WEEK } from '../params.ts'
import { ancestorAt, type ChainBlock, contains, firstAfter, forkOf } from './chainBlock.ts'
import { isBetter } from './forkChoice.ts'

/** A block that people name as part of the chain. */
export interface Checkpoint {
  readonly id: string
  readonly slot: number
}

/** A branch as others show it: its last block, and the last block on it with a commit of the set in charge. */
export interface ShownBranch {
  readonly tip: ChainBlock
  readonly final: ChainBlock
}

export interface Joining {
  readonly epochSlots: number
  /** The slot by the clock. */
  readonly now: number
  readonly checkpoint: Checkpoint | null
  /** At least one, all of the same genesis and checked block by block. */
  readonly branches: readonly ShownBranch[]
}

/** Which chain a node without a past follows, or why it follows none yet. */
export type Joined =
  | { readonly kind: 'follow'; readonly tip: ChainBlock }
  /** Who could have forged a chain since then may have its bond back by now: a newer checkpoint is needed. */
  | { readonly kind: 'oldCheckpoint' }
  /** Nobody that was asked knows the checkpoint: ask others. */
  | { readonly kind: 'withoutCheckpoint' }
  /** Two final blocks exclude each other: over a third of a set has lied, and only people can say which chain is right. */
  | { readonly kind: 'conflict'; readonly finals: readonly [ChainBlock, ChainBlock] }

/** Epochs after a fork in which weights are older than the fork: later ones are whatever the author of a branch likes. */
const DENSITY_EPOCHS = 2

/** Slots after a fork that count where branches are compared by density. */
export const densitySlots = (epochSlots: number): number => DENSITY_EPOCHS * epochSlots

/** How a node that was away for long, or never there, picks its chain (§3.5): checkpoint, then commits, then density. */
export function joinChain({ epochSlots, now, checkpoint, branches }: Joining): Joined {
  if (checkpoint !== null && now - checkpoint.slot > Number(WEEK) * epochSlots) return { kind: 'oldCheckpoint' }
  const isAllowed = ({ tip }: ShownBranch) =>
    checkpoint === null || ancestorAt(tip, checkpoint.slot).id === checkpoint.id
  const able = branches.filter(isAllowed)
  if (able.length === 0) return { kind: 'withoutCheckpoint' }
  const final = able.map((branch) => branch.final).reduce((last, each) => (each.slot > last.slot ? each : last))
  const other = able.find((branch) => !contains(final, branch.final))
  if (other !== undefined) return { kind: 'conflict', finals: [final, other.final] }
  const tips = able.map(({ tip }) => tip).filter((tip) => contains(tip, final))
  return { kind: 'follow', tip: densestOf(tips, epochSlots) }
}

/**
 * At the first fork of all branches the one with more score in the two epochs after it wins, with all that share more with
 * it; then at the next fork. Step by step, since "denser" for two at a time can lead in a circle.
 */
export function densestOf(tips: readonly ChainBlock[], epochSlots: number): ChainBlock {
  let open = [...new Set(tips)]
  while (open.length > 1) {
    const fork = open.reduce(forkOf)
    const end = fork.slot + densitySlots(epochSlots)
    const best = open.reduce((best, tip) => (isBetter(ancestorAt(tip, end), ancestorAt(best, end)) ? tip : best))
    open = open.filter((tip) => tip === best || forkOf(tip, best) !== fork)
  }
  return open[0]!
}

/**
 * The block that the chain of a node without a past goes through: on the densest branch, the first one after its last fork
 * that lies too far back for the usual fork choice. Null where there is no such fork.
 */
export function joinedAt(tips: readonly ChainBlock[], epochSlots: number): ChainBlock | null {
  if (tips.length < 2) return null
  const chosen = densestOf(tips, epochSlots)
  const isOld = (fork: ChainBlock, other: ChainBlock) =>
    Math.max(chosen.slot, other.slot) - fork.slot > densitySlots(epochSlots)
  const old = tips
    .map((other) => ({ other, fork: forkOf(chosen, other) }))
    .filter(({ other, fork }) => other !== chosen && isOld(fork, other))
  return old.length === 0 ? null : firstAfter(chosen, Math.max(...old.map(({ fork }) => fork.slot)))
}
