import { DecodeError } from '../../core/bytes/reader.ts'
import type { TensorHasher } from '../../core/work/engineRun.ts'
import { DIGIT_CLASSES, DIGIT_PIXELS, drawDigits } from '../../core/work/kinds/training/digits.ts'
import { startOf } from '../../core/work/kinds/training/training.ts'
import { bitsOf } from '../../core/work/ops/shapes.ts'
import type { WorkSpec } from '../../core/work/workSpec.ts'
import { decodeSafetensors } from '../../drivers/workFiles/safetensorsFile.ts'
import type { Tensors } from '../../ports/workDevice.ts'
import { fault } from '../faults.ts'
import { readInput } from './readInput.ts'
import { DONE } from './results/trainedFile.ts'
import { type PreparedWork, prepareWork } from './workOrder.ts'

export interface TrainFlags {
  readonly family: 'gpt' | 'llama' | 'mlp'
  /** Sizes of the layers of an MLP between samples and classes. */
  readonly hidden?: readonly string[]
  readonly layers: number
  readonly width: number
  readonly heads: number
  readonly tokens: number
  readonly sequences: number
  readonly steps: number
  readonly rate: number
  /** Parts of a step that several cards of a box can make, each its own. */
  readonly shards?: number
}

/** Text is bytes: no tokenizer to agree on. */
const VOCABULARY = 256
const THETA = 10_000

/** What a model begins with that was trained before: weights, or a whole state and how many steps made it. */
export interface Start {
  readonly tensors: Tensors
  readonly done: number | null
}

/** A language model on the bytes of a file; its weights are made by the seed where none are handed in. */
export function trainWork(
  text: Uint8Array,
  flags: TrainFlags,
  hasher: TensorHasher,
  start: Start | null = null,
): PreparedWork {
  const { family, layers, width, heads, tokens, sequences, steps, rate } = flags
  if (width % (2 * heads) !== 0) throw fault('BAD_WORK_INPUT', { why: `--width must be a multiple of ${2 * heads}` })
  const given = textWindows(text, tokens)
  const windows = given.get('data')!.length / (4 * (tokens + 1))
  if (windows < sequences)
    throw fault('BAD_WORK_INPUT', {
      why: `the text has ${windows} windows of ${tokens + 1} bytes, fewer than a step takes`,
    })
  const headSize = width / heads
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
  const parameters = { model, optimiser: optimiserFor(steps, rate), sequences, tokens, windows, ...shardsOf(flags) }
  return prepareStarted(parameters, steps, given, start, hasher)
}

/** A text as windows of so many tokens and one more; what is left over is not learned. */
export function textWindows(text: Uint8Array, tokens: number): ReadonlyMap<string, Uint8Array> {
  const whole = text.length - (text.length % (tokens + 1))
  return new Map([['data', bytesOf(Uint32Array.from(text.subarray(0, whole)))]])
}

const DIGITS = 4096
const DIGITS_SEED = 1

/** network.md's task: an MLP on digits that are drawn here, SGD with momentum from the mixture. */
export function digitsWork(flags: TrainFlags, hasher: TensorHasher, start: Start | null = null): PreparedWork {
  const { sequences, steps, rate } = flags
  const sizes = [DIGIT_PIXELS, ...(flags.hidden ?? ['128', '64']).map(Number), DIGIT_CLASSES]
  const optimiser = { name: 'sgd', momentum: bitsOf(0.9), clip: bitsOf(10), rates: [[0, bitsOf(rate)]] }
  const parameters = {
    model: { family: 'mlp', sizes },
    optimiser,
    sequences,
    tokens: 1,
    windows: DIGITS,
    ...shardsOf(flags),
  }
  return prepareStarted(parameters, steps, drawnDigits(), start, hasher)
}

/** Digits as every such work learns them. */
export function drawnDigits(): ReadonlyMap<string, Uint8Array> {
  const { data, labels } = drawDigits(DIGITS, DIGITS_SEED)
  return new Map([
    ['data', bytesOf(data)],
    ['labels', bytesOf(labels)],
  ])
}

function shardsOf({ shards = 1, sequences }: TrainFlags): { readonly shards?: number } {
  if (sequences % shards !== 0) throw fault('BAD_WORK_INPUT', { why: `--sequences must be a multiple of ${shards}` })
  return shards === 1 ? {} : { shards }
}

type Parameters = WorkSpec['parameters']

/** The same with what it begins with: a file may hold more than the model has. */
function prepareStarted(
  parameters: Parameters,
  steps: number,
  data: ReadonlyMap<string, Uint8Array>,
  start: Start | null,
  hasher: TensorHasher,
): PreparedWork {
  const begun =
    start === null
      ? { start: 'fresh' }
      : start.done === null
        ? { start: 'given' }
        : { start: 'state', done: start.done }
  const asked = { kind: 'training', parameters: { ...parameters, ...begun }, transitions: steps, interval: 1 }
  return prepareWork(asked, new Map([...data, ...startTensors(start)]), hasher)
}

/** What it begins with, as inputs. */
export const startTensors = (start: Start | null): Tensors =>
  new Map([...(start?.tensors ?? [])].map(([name, bytes]) => [startOf(name), bytes]))

/** A file of `--out` holds weights; one of `--state` their moments too, and how many steps made them. */
export function startIn(name: string): Start {
  try {
    const tensors = decodeSafetensors(readInput(name))
    const done = tensors.get(DONE)
    return { tensors, done: done ? (new Float32Array(done.buffer)[0] ?? null) : null }
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
    throw fault('BAD_WORK_INPUT', { why: `${name}: ${error.message}` })
  }
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
