import { words32 } from '../../core/bytes/bytes.ts'
import type { TensorHasher } from '../../core/work/engineRun.ts'
import { type InferenceParameters, MOST_SHOWN } from '../../core/work/kinds/inference/inference.ts'
import { bitsOf } from '../../core/work/ops/shapes.ts'
import type { StateMark } from '../../core/work/stateChain.ts'
import type { ReadModel } from '../../drivers/model/readModel.ts'
import { fault } from '../faults.ts'
import { type PreparedWork, prepareWork } from './workOrder.ts'

export interface InferFlags {
  readonly tokens: number
  /** 0 is greedy. */
  readonly temperature: number
  /** Of the samples; without it the seed of the work makes them. */
  readonly seed?: number
}

/** Tokens between two committed states, where nothing asks for fewer. */
const BURST = 8
/** Roots of a segment that is run again stay small: so many layers go through it. */
const LAYERS_A_SEGMENT = 256

/** Prompts as tokens that a model goes on from, ready to be run. */
export interface InferWork extends PreparedWork {
  readonly parameters: InferenceParameters
  /** Which row of the work each prompt is: the longest come first there. */
  readonly rows: readonly number[]
}

/** Every prompt is gone on with for so many tokens. */
export function inferWork(
  { model, tensors }: Pick<ReadModel, 'model' | 'tensors'>,
  prompts: readonly (readonly number[])[],
  { tokens, temperature, seed }: InferFlags,
  hasher: TensorHasher,
): InferWork {
  const order = longestFirst(prompts)
  const sorted = order.map((prompt) => prompts[prompt]!)
  const lengths = sorted.map(({ length }) => length)
  const total = lengths[0]! + tokens
  if (total > model.context)
    throw fault('BAD_WORK_INPUT', {
      why: `${lengths[0]} tokens of a prompt and ${tokens} more are beyond the ${model.context} that the model has places for`,
    })
  const transitions = total - lengths.at(-1)!
  const each = Math.max(1, Math.min(BURST, Math.floor(LAYERS_A_SEGMENT / model.layers), transitions))
  const shown = Math.min(each, Math.floor(MOST_SHOWN / lengths.length))
  const sampling =
    temperature === 0 ? null : { factor: bitsOf(1 / temperature), key: seed === undefined ? null : keyOf(seed) }
  const parameters: InferenceParameters = { model, lengths, total, shown, sampling }
  const cells = Uint32Array.from(
    sorted.flatMap((prompt) => [...prompt, ...Array<number>(total - prompt.length).fill(0)]),
  )
  const given = new Map([['prompts', new Uint8Array(cells.buffer)], ...tensors])
  const asked = { kind: 'inference', parameters, transitions, interval: shown || each }
  return { ...prepareWork(asked, given, hasher), parameters, rows: order.map((_, prompt) => order.indexOf(prompt)) }
}

/** Which prompt each row of the work is. */
export const longestFirst = (prompts: readonly (readonly number[])[]): readonly number[] =>
  [...prompts.keys()].sort((a, b) => prompts[b]!.length - prompts[a]!.length)

const keyOf = (seed: number): [number, number] => [seed % 2 ** 32, Math.floor(seed / 2 ** 32)]

/** What a model said after a prompt: up to where it stopped, or as much as was asked for. */
export interface Completion {
  readonly tokens: readonly number[]
  readonly hasStopped: boolean
  /** What came after that, and is no part of the text. */
  readonly rest: readonly number[]
}

/** The tokens after each prompt, in the order of the prompts. */
export function completionsOf(
  { parameters: { total, lengths }, rows }: InferWork,
  state: Uint8Array,
  tokens: number,
  stops: readonly number[],
): readonly Completion[] {
  const words = [...words32(state)]
  return rows.map((row) => {
    const made = words.slice(row * total + lengths[row]!, (row + 1) * total)
    return upToStop(made, stops, tokens)
  })
}

/** W9.3.7. Whether what was said of every state on the way are the tokens of the last one, as far as they were made then. */
export function areSaidTokens(
  { lengths, total, shown }: Pick<InferenceParameters, 'lengths' | 'total' | 'shown'>,
  ends: readonly number[],
  words: Uint32Array,
  marks: readonly Pick<StateMark, 'statistics'>[],
): boolean {
  return ends.every((transition, segment) => {
    const made = lengths.at(-1)! + transition
    const first = Math.max(0, made - shown)
    const figures = lengths.flatMap((length, row) =>
      Array.from({ length: shown }, (_, i) =>
        first + i < Math.max(made, length) ? words[row * total + first + i] : 0,
      ),
    )
    const { statistics } = marks[segment]!
    return statistics.length === figures.length && figures.every((token, i) => token === statistics[i])
  })
}

/** Nothing after a stop token counts as said, and no more than was asked for. */
export function upToStop(made: readonly number[], stops: readonly number[], asked = made.length): Completion {
  const stop = made.slice(0, asked).findIndex((token) => stops.includes(token))
  const end = stop < 0 ? asked : stop
  return { tokens: made.slice(0, end), hasStopped: stop >= 0, rest: made.slice(end) }
}
