import { equalBytes } from '../../core/bytes/bytes.ts'
import { type DisputeOutcome, settleDispute } from '../../core/work/methods/dispute.ts'
import { compareReplicas, type ReplicaAnswer } from '../../core/work/methods/replicas.ts'
import { WorkRejected } from './proverLine.ts'
import { type Watch, type WatchedWork, WorkListener } from './workListener.ts'

/** How one replica fared: what it showed, or why it is not believed. */
export type ReplicaEnd = { readonly shown: WatchedWork } | { readonly rejected: WorkRejected }

/** Two replicas that differed, and what the search for their first difference came to. */
export interface Dispute extends DisputeOutcome {
  /** Places of the two among the replicas, counted from 0, and their keys. */
  readonly between: readonly [number, number]
  readonly keys: readonly [Uint8Array, Uint8Array]
}

export interface ReplicasWatched {
  /** All said the same; they differed, and disputes said who is wrong; or fewer than two are left to compare. */
  readonly outcome: 'agree' | 'settled' | 'too few'
  readonly ends: readonly ReplicaEnd[]
  readonly disputes: readonly Dispute[]
}

/**
 * W5.3. The same work on several provers. Each hides what it says until all have said it; then they are compared. Where
 * they differ, two at a time are asked for the first thing they differ in, over the line they have, and one patch of it is
 * recomputed here: whoever is wrong in it is rejected, with all who said the same.
 */
export async function watchReplicas(watches: readonly Watch[], signal: AbortSignal): Promise<ReplicasWatched> {
  const listeners = watches.map((watch) => new WorkListener({ ...watch, isHidden: true }, signal))
  const rejections = new Map<WorkListener, WorkRejected>()
  const left = () => listeners.filter((listener) => !rejections.has(listener))
  const each = (step: (listener: WorkListener) => Promise<void>) =>
    Promise.all(
      left().map((listener) =>
        step(listener).catch((error: unknown) => {
          if (!(error instanceof WorkRejected)) throw error
          rejections.set(listener, error)
        }),
      ),
    )
  await each((listener) => listener.assign())
  // Nobody is asked to open before everybody has said its last, or was rejected.
  await each((listener) => listener.execute())
  const answers = new Map<WorkListener, ReplicaAnswer>()
  await each(async (listener) => {
    const opened = await listener.unveil()
    answers.set(listener, { key: listener.key, commitment: listener.commitment, opened })
  })
  const { outcome, classes } = compareReplicas(left().map((listener) => answers.get(listener)!))
  const disputes: Dispute[] = []
  if (outcome === 'differ') {
    const linkOf = (listener: WorkListener) => answers.get(listener)!.opened!.link
    const sides = classes.map(({ link }) => left().filter((listener) => equalBytes(linkOf(listener), link)))
    for (const { lost, ...dispute } of await settleAll(sides, listeners, watches[0]!)) {
      disputes.push(dispute)
      for (const listener of lost) rejections.set(listener, new WorkRejected('DISPUTE_LOST', placeOf(dispute)))
    }
  }
  const shown = new Map<WorkListener, WatchedWork>()
  await each(async (listener) => void shown.set(listener, await listener.prove()))
  const ends = listeners.map((listener): ReplicaEnd => {
    const rejected = rejections.get(listener)
    return rejected ? { rejected } : { shown: shown.get(listener)! }
  })
  return { outcome: outcome === 'differ' ? 'settled' : outcome, ends, disputes }
}

type Side = readonly WorkListener[]

/** Whoever stands against whoever is left, one after the other; how many said the same proves nothing. */
async function settleAll(
  [first, ...more]: readonly Side[],
  listeners: readonly WorkListener[],
  { work, runPatch }: Pick<Watch, 'work' | 'runPatch'>,
): Promise<readonly (Dispute & { readonly lost: Side })[]> {
  const settled: (Dispute & { readonly lost: Side })[] = []
  let holds: Side | null = first ?? null
  for (const other of more) {
    if (holds === null) {
      holds = other
      continue
    }
    const found = await settleDispute(work, [holds[0]!.disputant(), other[0]!.disputant()], runPatch)
    const isWrong = [
      found.wrong === 'first' || found.wrong === 'both',
      found.wrong === 'second' || found.wrong === 'both',
    ]
    const between = [listeners.indexOf(holds[0]!), listeners.indexOf(other[0]!)] as const
    const keys = [holds[0]!.key, other[0]!.key] as const
    settled.push({ ...found, between, keys, lost: [...(isWrong[0] ? holds : []), ...(isWrong[1] ? other : [])] })
    if (isWrong[0]) holds = isWrong[1] ? null : other
  }
  return settled
}

/** Where they differed, in words. */
export function placeOf({ segment, op, draw, rounds }: DisputeOutcome): string {
  const where = [
    segment === undefined ? '' : segment < 0 ? 'the beginning' : `segment ${segment}`,
    op === undefined ? '' : `step ${op}`,
    draw === undefined ? 'it did not show it' : `patch ${draw.patch}`,
  ]
  return `${where.filter(Boolean).join(', ')}; ${rounds} rounds`
}
