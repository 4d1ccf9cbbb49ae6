import { epochOrder } from '../../core/workload/epochOrder.ts'
import type { ReadableFile } from '../../ports/fileAccess.ts'
import { fault } from '../shared/faults.ts'
import type { Batch } from './trainStep.ts'

export interface BatchOptions {
  readonly sequences: number
  readonly tokens: number
  /** Batches that belong to one step: one per device. */
  readonly devices: number
  readonly epochs: number
  readonly seed: number
}

export interface StepBatches {
  readonly epoch: number
  readonly batches: readonly Batch[]
}

/** Reads the text window by window, in a new order every epoch, one step ahead of whoever takes them. */
export async function* textBatches(text: ReadableFile, options: BatchOptions): AsyncGenerator<StepBatches> {
  const { sequences, tokens, devices, epochs, seed } = options
  const windows = Math.floor((text.length - 1) / tokens)
  const steps = Math.floor(windows / (sequences * devices))
  if (steps < 1) throw fault('TEXT_TOO_SHORT', { got: text.length, expected: sequences * devices * tokens + 1 })
  let next: Promise<StepBatches> | null = null
  for (let epoch = 0; epoch < epochs; epoch++) {
    const order = epochOrder(windows, epoch, seed)
    for (let step = 0; step < steps; step++) {
      const ahead = readStep(text, options, epoch, order.subarray(step * sequences * devices))
      ahead.catch(() => {})
      if (next) yield await next
      next = ahead
    }
  }
  if (next) yield await next
}

async function readStep(
  text: ReadableFile,
  { sequences, tokens, devices }: BatchOptions,
  epoch: number,
  order: Uint32Array,
): Promise<StepBatches> {
  const batches = Array.from({ length: devices }, () => ({
    words: new Int32Array(sequences * tokens),
    targets: new Int32Array(sequences * tokens),
  }))
  for (let index = 0; index < sequences * devices; index++) {
    const { words, targets } = batches[Math.floor(index / sequences)]!
    const bytes = await text.read(order[index]! * tokens, tokens + 1)
    words.set(bytes.subarray(0, tokens), (index % sequences) * tokens)
    targets.set(bytes.subarray(1), (index % sequences) * tokens)
  }
  return { epoch, batches }
}
