import { equalBytes } from '../../core/bytes/bytes.ts'
import { type DisputeOutcome, settleDispute } from '../../core/work/methods/dispute.ts'
import type { Receipt } from '../../core/work/receipt.ts'
import { WorkRefusal } from '../../core/work/refusals.ts'
import type { Replayed } from '../../core/work/replayWork.ts'
import { WorkRejected } from './proverLine.ts'
import { type Watch, type WatchedWork, WorkListener } from './workListener.ts'

/** How one replica fared: what it showed, or why it is not believed. */
export type ReplicaEnd = { readonly shown: WatchedWork } | { readonly rejected: WorkRejected }

/** Two replicas that differed, and what the search for their first difference came to. */
export interface Dispute extends DisputeOutcome {
  /** Places of the two among the replicas, counted from 0, and their keys. */
  readonly between: readonly [number, number]
  readonly keys: readonly [Uint8Array, Uint8Array]
  /** Places of those of them who lost it. */
  readonly lost: readonly number[]
}

export interface ReplicasWatched {
  /**
   * All said the same; they differed, and it is known who is wrong; or it is not, since one that differed fell silent and
   * nothing was run again here; or fewer than two are left to compare.
   */
  readonly outcome: 'agree' | 'settled' | 'open' | 'too few'
  readonly ends: readonly ReplicaEnd[]
  readonly disputes: readonly Dispute[]
  /** Whether who is left was run again here, from the beginning to the end. */
  readonly isReplayed: boolean
  /** Why nobody can be right: the work has no result. */
  readonly refusal: WorkRefusal | null
}

/**
 * Runs the whole work again, and compares it with what was said; null where that would take too long. Where nothing is to
 * be compared, it runs through one segment, or as many of those before as it may. Throws the refusal of the work itself.
 */
export type ReplayHere = (
  said: Pick<Receipt, 'firstRoot' | 'marks'> | null,
  through?: number,
) => Promise<Replayed | null>

/**
 * W5.3. The same work on several provers. Each hides what it says until all have said it; then they are compared. Where
 * they differ, two at a time are asked for the first thing they differ in, over the line they have, and one patch of it is
 * recomputed here. Each answers for itself alone: whoever is silent or wrong does not speak for who said the same
 * (attack 357).
 */
export async function watchReplicas(
  watches: readonly Watch[],
  replay: ReplayHere,
  signal: AbortSignal,
): Promise<ReplicasWatched> {
  const replicas = new Replicas(watches.map((watch) => new WorkListener({ ...watch, isHidden: true }, signal)))
  await replicas.each((listener) => listener.assign())
  // Nobody is asked to open before everybody has said its last, or was rejected.
  await replicas.each((listener) => listener.execute())
  await replicas.each((listener) => listener.unveil())
  const disputes = await settleAll(replicas, watches[0]!)
  replicas.rejectSameKeys()
  const shown = new Map<WorkListener, WatchedWork>()
  const before = replicas.left.length
  await replicas.each(async (listener) => void shown.set(listener, await listener.prove()))
  const isShownByAll = replicas.left.length === before
  // Last of all: whoever has shown everything need not be there any more (attack 511).
  const { isReplayed, refusal } = await settleHere(replicas, replay)
  const isOpen = replicas.unheard.length > 0 && !isReplayed
  const isDisputed = disputes.length > 0 || replicas.rejectedFor('REFUSED_WRONGLY').length > 0
  // Who said the same and cannot show it speaks against who is left: of several that lie alike one may pass (attack 449).
  const isSettled = isReplayed || (isDisputed && !isOpen && isShownByAll)
  const isTooFew = replicas.left.length < (isSettled ? 1 : 2)
  const ends = replicas.all.map((listener): ReplicaEnd => {
    const rejected = replicas.rejections.get(listener)
    return rejected ? { rejected } : { shown: shown.get(listener)! }
  })
  const outcome = isTooFew ? 'too few' : isOpen ? 'open' : isDisputed ? 'settled' : 'agree'
  return { outcome, ends, disputes, isReplayed, refusal }
}

/** Who works, and who of them is not believed any more. */
class Replicas {
  readonly rejections = new Map<WorkListener, WorkRejected>()
  readonly all: readonly WorkListener[]

  constructor(all: readonly WorkListener[]) {
    this.all = all
  }

  get left(): readonly WorkListener[] {
    return this.all.filter((listener) => !this.rejections.has(listener))
  }

  rejectedFor(...codes: readonly WorkRejected['code'][]): readonly WorkListener[] {
    return this.all.filter((one) => codes.some((code) => this.rejections.get(one)?.code === code))
  }

  /** Those who said something else than who is left, and of whom nothing shows that they were wrong. */
  get unheard(): readonly WorkListener[] {
    const [first] = this.left
    return first ? this.rejectedFor('UNHEARD', 'REFUSED_UNSEEN').filter((one) => differs(one, first)) : []
  }

  async each(step: (listener: WorkListener) => Promise<unknown>): Promise<void> {
    const orReject = (listener: WorkListener) =>
      step(listener).catch((error: unknown) => {
        if (!(error instanceof WorkRejected)) throw error
        this.rejections.set(listener, error)
      })
    await Promise.all(this.left.map(orReject))
  }

  /** Two of those who are left; how many said the same proves nothing. */
  twoThatDiffer(): readonly [WorkListener, WorkListener] | null {
    const [first, ...others] = this.left
    const other = first && others.find((one) => differs(one, first))
    return other ? [first, other] : null
  }

  /** A key counts once, by who was named first. */
  rejectSameKeys(): void {
    for (const listener of this.left) {
      const same = this.left.find(({ key }) => equalBytes(key, listener.key))!
      if (same !== listener)
        this.rejections.set(listener, new WorkRejected('SAME_KEY', `replica ${this.all.indexOf(same) + 1}`))
    }
  }
}

const differs = (one: WorkListener, other: WorkListener) => !equalBytes(one.lastLink, other.lastLink)

/** Until all who are left say the same. */
async function settleAll(replicas: Replicas, { work, runPatch }: Watch): Promise<readonly Dispute[]> {
  const { all, rejections } = replicas
  const settled: Dispute[] = []
  for (let two = replicas.twoThatDiffer(); two; two = replicas.twoThatDiffer()) {
    const [first, second] = two
    const unheard = (one: WorkListener) => (why: WorkRejected) =>
      void rejections.set(one, new WorkRejected('UNHEARD', why.message))
    const sides = [first.disputant(unheard(first)), second.disputant(unheard(second))] as const
    const found = await settleDispute(work, sides, runPatch)
    const between = [all.indexOf(first), all.indexOf(second)] as const
    const lost = between.filter((_, i) => found.wrong !== (i === 0 ? 'second' : 'first'))
    settled.push({ ...found, between, keys: [first.key, second.key], lost })
    const why = found.isSilent ? new WorkRejected('UNHEARD') : new WorkRejected('DISPUTE_LOST', placeOf(found))
    for (const place of lost) if (!rejections.has(all[place]!)) rejections.set(all[place]!, why)
  }
  return settled
}

/** What is found out by running it again here, where that can be done. */
async function settleHere(
  replicas: Replicas,
  replay: ReplayHere,
): Promise<Pick<ReplicasWatched, 'isReplayed' | 'refusal'>> {
  try {
    await settleRefused(replicas, replay)
    return { isReplayed: await settleUnheard(replicas, replay), refusal: null }
  } catch (error) {
    if (!(error instanceof WorkRefusal)) throw error
    for (const one of replicas.left) replicas.rejections.set(one, new WorkRejected('NO_SUCH_RESULT'))
    return { isReplayed: false, refusal: error }
  }
}

/** Who says that the work has no result has said something else than who is left, who may lie alike (attack 519). */
async function settleRefused(replicas: Replicas, replay: ReplayHere): Promise<void> {
  const refused = replicas.rejectedFor('REFUSED')
  const said = refused.map((one) => replicas.rejections.get(one)!)
  const found = await lookInto(said, replay)
  for (const [i, one] of refused.entries()) replicas.rejections.set(one, found[i]!)
}

/** W4.6.6. Throws the refusal of the work where it is true; else what whoever said so is rejected for. */
export async function lookInto(refused: readonly WorkRejected[], replay: ReplayHere): Promise<readonly WorkRejected[]> {
  if (refused.length === 0) return []
  const replayed = await replay(null, Math.max(...refused.map(({ segment }) => segment)))
  const isWrong = ({ segment }: WorkRejected) => replayed !== null && segment < replayed.segments
  return refused.map((one) => new WorkRejected(isWrong(one) ? 'REFUSED_WRONGLY' : 'REFUSED_UNSEEN', one.where))
}

/**
 * Who fell silent may have been right, and cut off from here by somebody else: who is left was not shown to be right by
 * that. Whether it is, is found out here where that can be done.
 */
async function settleUnheard({ left, unheard, rejections }: Replicas, replay: ReplayHere): Promise<boolean> {
  if (unheard.length === 0) return false
  const replayed = await replay(left[0]!.said)
  const segment = replayed?.problem?.segment
  if (segment !== undefined)
    for (const one of left)
      rejections.set(one, new WorkRejected('DISPUTE_LOST', `${segmentText(segment)}, by a replay`))
  return replayed?.problem === null
}

const segmentText = (segment: number): string => (segment < 0 ? 'the beginning' : `segment ${segment}`)

/** Where they differed, in words. */
function placeOf({ segment, op, draw, rounds }: DisputeOutcome): string {
  const where = [
    segment === undefined ? '' : segmentText(segment),
    op === undefined ? '' : `step ${op}`,
    draw === undefined ? 'it contradicts what it said' : `patch ${draw.patch}`,
  ]
  return `${where.filter(Boolean).join(', ')}; ${rounds} rounds`
}
