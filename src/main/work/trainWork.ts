import type { TensorHasher } from '../../core/work/engineRun.ts'
import { bitsOf } from '../../core/work/ops/shapes.ts'
import { fault } from '../faults.ts'
import { type PreparedWork, prepareWork } from './workOrder.ts'

export interface TrainFlags {
  readonly family: 'gpt' | 'llama'
  readonly layers: number
  readonly width: number
  readonly heads: number
  readonly tokens: number
  readonly sequences: number
  readonly steps: number
  readonly rate: number
}

/** Text is bytes: no tokenizer to agree on. */
const VOCABULARY = 256
const THETA = 10_000

/** A language model on the bytes of a file, from weights that the seed makes. */
export function trainWork(text: Uint8Array, flags: TrainFlags, hasher: TensorHasher): PreparedWork {
  const { family, layers, width, heads, tokens, sequences, steps, rate } = flags
  if (width % (2 * heads) !== 0) throw fault('BAD_WORK_INPUT', { why: `--width must be a multiple of ${2 * heads}` })
  const windows = Math.floor(text.length / (tokens + 1))
  if (windows < sequences)
    throw fault('BAD_WORK_INPUT', {
      why: `the text has ${windows} windows of ${tokens + 1} bytes, fewer than a step takes`,
    })
  const headSize = width / heads
  const given = new Map([['data', bytesOf(Uint32Array.from(text.subarray(0, windows * (tokens + 1))))]])
  const isGpt = family === 'gpt'
  const model = {
    ...{ family, layers, width, heads, keyHeads: heads, headSize, hidden: 4 * width },
    ...{
      vocabulary: VOCABULARY,
      context: tokens,
      hasQkvBias: isGpt,
      isTied: isGpt,
      rotaryBase: isGpt ? 0 : bitsOf(THETA),
    },
  }
  const parameters = { model, optimiser: optimiserFor(steps, rate), sequences, tokens, windows, start: 'fresh' }
  return prepareWork({ kind: 'training', parameters, transitions: steps, interval: 1 }, given, hasher)
}

/** AdamW: a short rise, then down to a tenth. */
function optimiserFor(steps: number, rate: number) {
  const rise = Math.max(1, Math.round(steps / 20))
  const rates = [[0, bitsOf(0)], [rise, bitsOf(rate)], ...(steps > rise ? [[steps, bitsOf(rate / 10)]] : [])]
  const betas = { beta1: bitsOf(0.9), beta2: bitsOf(0.95) }
  return { name: 'adamW', ...betas, epsilon: bitsOf(1e-8), decay: bitsOf(0.1), clip: bitsOf(1), rates }
}

const bytesOf = (values: ArrayBufferView): Uint8Array =>
  new Uint8Array(values.buffer, values.byteOffset, values.byteLength)
