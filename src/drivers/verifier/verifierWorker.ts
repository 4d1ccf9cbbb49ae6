import { parentPort, workerData } from 'node:worker_threads'
import type { Challenge } from '../../core/proof/challenge.ts'
import { type OpeningRange, type PartEvidence, rangeVerifier } from '../../core/proof/verifyPart.ts'
import { type EngineStart, openEngine } from './engineStart.ts'
import { partOf, type SharedPart } from './sharedPart.ts'

/** A run before the questions about it, then its parts one by one, and null when there will be no more. Has no answer. */
export type RunNews = { readonly id: number } & (
  | { readonly challenge: Challenge | null }
  | { readonly part: SharedPart }
)

/** What is wrong in this range of the run? No answer at all, neither null nor a reason, where the run is not known. */
export interface RangeQuestion {
  readonly id: number
  readonly range: OpeningRange
}

const engine = await openEngine(workerData as EngineStart)
const runs = new Map<number, { readonly parts: PartEvidence[]; readonly verify: ReturnType<typeof rangeVerifier> }>()

function hear(news: RunNews): void {
  if ('part' in news) runs.get(news.id)?.parts.push(partOf(news.part))
  else if (news.challenge) {
    const parts: PartEvidence[] = []
    runs.set(news.id, { parts, verify: rangeVerifier({ challenge: news.challenge, parts }, engine) })
  } else runs.delete(news.id)
}

parentPort!.on('message', (message: RunNews | RangeQuestion) => {
  if ('range' in message) parentPort!.postMessage(runs.get(message.id)?.verify(message.range))
  else hear(message)
})
