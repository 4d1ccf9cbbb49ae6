import type { ChainTask, DeviceFacts, FillTask, LeafPosition } from '../../../ports/device.ts'
import type { Blame } from '../../../ports/errors.ts'
import { TouchstoneError } from '../../../ports/errors.ts'
import type { FillPlace } from './memoryPart.ts'
import type { ChainShape } from './shape.ts'

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
  | { readonly do: 'prepare'; readonly shapes: readonly ChainShape[] }
  | { readonly do: 'runChain'; readonly task: ChainTask }
  | { readonly do: 'openChain'; readonly asked: readonly LeafPosition[] }
  | { readonly do: 'fill'; readonly task: FillTask }
  | {
      readonly do: 'runPasses'
      readonly passes: number
      readonly start: Uint8Array
      readonly peer: FillPlace | null
    }
  | { readonly do: 'openPasses'; readonly asked: readonly LeafPosition[] }
  | { readonly do: 'runBare'; readonly task: ChainTask }
  | { readonly do: 'release' }
  | { readonly do: 'close' }

export type CardAnswer =
  | { readonly type: 'opened'; readonly facts: DeviceFacts }
  | { readonly type: 'roots'; readonly roots: Uint8Array }
  | { readonly type: 'done'; readonly result: Uint8Array | FillPlace | number | null }
  | { readonly type: 'fault'; readonly fault: WireFault }

/** A TouchstoneError between threads: structured cloning would lose its class and fields. */
export interface WireFault {
  readonly detail: { code: string } & Record<string, string | number | boolean>
  readonly message: string
  readonly blame: Blame
  readonly retry: boolean
  readonly nextStep: string
}

export function toWireFault(error: unknown): WireFault {
  if (error instanceof TouchstoneError) {
    const { detail, message, blame, retry, nextStep } = error
    return { detail: { ...detail }, message, blame, retry, nextStep }
  }
  return {
    detail: { code: 'GPU_THREAD_FAILED' },
    message: `the thread of a card failed: ${error instanceof Error ? error.message : String(error)}`,
    blame: 'prover',
    retry: true,
    nextStep: 'Run again; if it fails again, report the message.',
  }
}

export const fromWireFault = ({ detail, ...rest }: WireFault): TouchstoneError => new TouchstoneError(detail, rest)
