import type { DeviceFacts, FillTask, LeafPosition, SeriesTask } from '../../../ports/device.ts'
import { TouchstoneError } from '../../../ports/errors.ts'
import { fault } from './faults.ts'
import type { FillPlace } from './memoryPart.ts'
import type { SeriesShape } from './shape.ts'

/** What the thread of a card is started with. */
export interface CardStart {
  readonly ordinal: number
  readonly context: 'shared' | 'own'
  readonly kernelFolder: string | null
  readonly keepBytes: number | null
  readonly stop: SharedArrayBuffer
}

/** What the main thread asks of the thread that drives a card; one at a time. */
export type CardJob =
  | { readonly do: 'prepare'; readonly shapes: readonly SeriesShape[] }
  | { readonly do: 'runSeries'; readonly task: SeriesTask }
  | { readonly do: 'openSeries'; readonly asked: readonly LeafPosition[] }
  | { readonly do: 'fill'; readonly task: FillTask }
  | {
      readonly do: 'runPasses'
      readonly passes: number
      readonly start: Uint8Array
      readonly peer: FillPlace | null
    }
  | { readonly do: 'openPasses'; readonly asked: readonly LeafPosition[] }
  | { readonly do: 'runBare'; readonly task: SeriesTask }
  | { readonly do: 'release' }
  | { readonly do: 'close' }

export type CardAnswer =
  | { readonly type: 'opened'; readonly facts: DeviceFacts }
  | { readonly type: 'roots'; readonly roots: Uint8Array }
  | { readonly type: 'done'; readonly result: Uint8Array | FillPlace | number | null }
  | { readonly type: 'fault'; readonly fault: WireFault }

/** A TouchstoneError between threads: structured cloning would lose its class and fields. */
type WireFault = Pick<TouchstoneError, 'detail' | 'message' | 'blame' | 'retry' | 'nextStep' | 'fleet'>

export function toWireFault(error: unknown): WireFault {
  const told = error instanceof Error ? error.message : String(error)
  const known = error instanceof TouchstoneError ? error : fault('GPU_THREAD_FAILED', { told })
  const { detail, message, blame, retry, nextStep, fleet } = known
  return { detail, message, blame, retry, nextStep, fleet }
}

export const fromWireFault = ({ detail, ...words }: WireFault): TouchstoneError => new TouchstoneError(detail, words)
