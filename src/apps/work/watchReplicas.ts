import { equalBytes } from '../../core/bytes/bytes.ts'
import { compareReplicas, type ReplicaAnswer } from '../../core/work/methods/replicas.ts'
import type { Receipt } from '../../core/work/receipt.ts'
import type { Replayed } from '../../core/work/replayWork.ts'
import { WorkRejected } from './proverLine.ts'
import { type Watch, type WatchedWork, WorkListener } from './watchWork.ts'

/** How one replica fared: what it showed, or why it is not believed. */
export type ReplicaEnd = { readonly shown: WatchedWork } | { readonly rejected: WorkRejected }

export interface ReplicasWatched {
  /** All said the same; they differed, and a replay here said who is right; or fewer than two are left to compare. */
  readonly outcome: 'agree' | 'settled' | 'too few'
  readonly ends: readonly ReplicaEnd[]
}

type Replay = (said: Pick<Receipt, 'firstRoot' | 'marks'>) => Promise<Replayed> | Replayed

/**
 * W5.3. The same work on several provers. Each hides what it says until all have said it; then they are compared. Where
 * they differ the work is replayed here, and whoever came to something else is rejected.
 */
export async function watchReplicas(
  watches: readonly Watch[],
  replay: Replay,
  signal: AbortSignal,
): Promise<ReplicasWatched> {
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
  const { outcome, classes } = compareReplicas([...answers.values()])
  if (outcome === 'differ') {
    const right = await rightLink(classes, left(), answers, replay)
    for (const listener of left())
      if (!right || !equalBytes(answers.get(listener)!.opened!.link, right))
        rejections.set(listener, new WorkRejected('NOT_SHOWN', 'a replay here came to another state'))
  }
  const shown = new Map<WorkListener, WatchedWork>()
  await each(async (listener) => void shown.set(listener, await listener.prove()))
  const ends = listeners.map((listener): ReplicaEnd => {
    const rejected = rejections.get(listener)
    return rejected ? { rejected } : { shown: shown.get(listener)! }
  })
  return { outcome: outcome === 'differ' ? 'settled' : outcome, ends }
}

/** The last h that a replay comes to; the larger class is looked at first, and its size proves nothing. */
async function rightLink(
  classes: ReturnType<typeof compareReplicas>['classes'],
  listeners: readonly WorkListener[],
  answers: ReadonlyMap<WorkListener, ReplicaAnswer>,
  replay: Replay,
): Promise<Uint8Array | null> {
  for (const { link } of classes) {
    const one = listeners.find((listener) => equalBytes(answers.get(listener)!.opened!.link, link))!
    if ((await replay(one.said)).problem === null) return link
  }
  return null
}
