import { parentPort, workerData } from 'node:worker_threads'
import { createEngine } from '../../core/engine/createEngine.ts'
import { type OpeningRange, type Run, rangeVerifier } from '../../core/proof/verifyPart.ts'
import { type NativeLibrary, openNativeEngine } from '../system/chooseKernels.ts'

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

/** What the thread computes with. */
export type EngineStart = { readonly native: NativeLibrary } | { readonly wasm: Uint8Array }

const start = workerData as EngineStart
const engine = await ('native' in start ? openNativeEngine(start.native) : createEngine(start.wasm))
const runs = new Map<number, ReturnType<typeof rangeVerifier>>()

parentPort!.on('message', (message: RunNews | RangeQuestion) => {
  if ('range' in message) {
    parentPort!.postMessage(runs.get(message.id)?.(message.range) ?? null)
  } else if (message.run) runs.set(message.id, rangeVerifier(message.run, engine))
  else runs.delete(message.id)
})
