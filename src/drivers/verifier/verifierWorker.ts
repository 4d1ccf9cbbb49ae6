import { parentPort, workerData } from 'node:worker_threads'
import { type OpeningRange, type Run, rangeVerifier } from '../../core/proof/verifyPart.ts'
import { type EngineStart, openEngine } from './engineStart.ts'

/** A run before the questions about it, and null when there will be no more. Has no answer. */
export interface RunNews {
  readonly id: number
  readonly run: Run | null
}

/** What is wrong in this range of the run? Nothing, where the run is known no more. */
export interface RangeQuestion {
  readonly id: number
  readonly range: OpeningRange
}

const engine = await openEngine(workerData as EngineStart)
const runs = new Map<number, ReturnType<typeof rangeVerifier>>()

parentPort!.on('message', (message: RunNews | RangeQuestion) => {
  if ('range' in message) {
    parentPort!.postMessage(runs.get(message.id)?.(message.range) ?? null)
  } else if (message.run) runs.set(message.id, rangeVerifier(message.run, engine))
  else runs.delete(message.id)
})
