import { TouchstoneError } from '../../../ports/errors.ts'
import type { Card } from './card.ts'
import { fault } from './faults.ts'

/** What the thread of a card is started with. */
export interface CardStart {
  readonly ordinal: number
  readonly context: 'shared' | 'own'
  readonly kernelFolder: string | null
  readonly keepBytes: number | null
  readonly stop: SharedArrayBuffer
}

/** What the main thread may ask of the thread that drives a card, one at a time: methods of the card. */
export type CardTasks = Omit<Card, 'facts' | 'tools' | 'plan'>

export interface CardJob {
  readonly call: keyof CardTasks
  readonly task: unknown
}

/** The first `done` says that the card is open, and what it is. */
export type CardAnswer =
  | { readonly type: 'roots'; readonly roots: Uint8Array }
  | { readonly type: 'done'; readonly result: unknown }
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
