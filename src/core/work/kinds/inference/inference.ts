import * as z from 'zod'
import { words32 } from '../../../bytes/bytes.ts'
import type { Kind, Turn } from '../../kind.ts'
import { floatOf } from '../../ops/shapes.ts'
import type { Counted, Program } from '../../program.ts'
import { ProgramBuilder } from '../../programBuilder.ts'
import { requireThat } from '../../refusals.ts'
import type { TensorShape } from '../../tensor.ts'
import { cacheParts, cacheTensors } from './cache.ts'
import { ASKED, InferencePass } from './pass.ts'
import { modelSchema, modelTensors } from './weights.ts'

const MAX_SEQUENCES = 1024
/** Figures of a mark, in words: so many fit what is said of a state while a work is watched. */
export const MOST_SHOWN = 16

const word = z.int().min(0).max(0xffffffff)

const parameters = z
  .strictObject({
    model: modelSchema,
    /** Tokens of each prompt, the longest first. */
    lengths: z
      .array(z.int().min(1).max(131_072))
      .min(1)
      .max(MAX_SEQUENCES)
      .refine((lengths) => lengths.every((length, i) => i === 0 || length <= lengths[i - 1]!)),
    /** Tokens of each sequence at the end. */
    total: z.int().min(2).max(131_072),
    /** The last so many tokens of every sequence are figures of a committed state. */
    shown: z.int().min(0).max(MOST_SHOWN),
    /** Greedy where it is null; else 1 / temperature as the bits of a float, and the words of a seed or null for the work's. */
    sampling: z
      .strictObject({ factor: z.int().min(1).max(0x7f7fffff), key: z.tuple([word, word]).nullable() })
      .nullable(),
  })
  .refine(({ lengths, total }) => lengths[0]! < total)
  .refine(({ model, total }) => total <= model.context)
  .refine(({ lengths, shown, total }) => shown * lengths.length <= MOST_SHOWN && shown <= total)

export type InferenceParameters = z.infer<typeof parameters>

const shortest = ({ lengths }: InferenceParameters): number => lengths.at(-1)!

function givenOf({ model, lengths, total }: InferenceParameters): ReadonlyMap<string, TensorShape> {
  return new Map([['prompts', { type: 'u32', rows: lengths.length, width: total }], ...modelTensors(model)])
}

function stateOf({ model, lengths, total }: InferenceParameters): ReadonlyMap<string, TensorShape> {
  const tokens: TensorShape = { type: 'u32', rows: lengths.length, width: total }
  return new Map([['tokens', tokens], ...cacheTensors(model, lengths.length, total - 1)])
}

function begin(said: InferenceParameters): Program {
  const p = new ProgramBuilder()
  for (const [name, shape] of givenOf(said)) p.there(name, shape)
  const [, ...caches] = stateOf(said).values()
  const tokens = p.step('reshape', ['prompts'], { width: said.total })
  const empty = caches.map(({ type, rows, width }) =>
    type === 'i8' ? p.step('zeroBytes', [], { rows, width }) : p.step('fill', [], { rows, width, value: 0 }),
  )
  return p.build([tokens, ...empty])
}

/** W9.3.1. The first transition takes what all prompts have, each other one token of every sequence. */
function transition(said: InferenceParameters, { transition: number, seed }: Turn): Program {
  const { model, lengths, shown } = said
  const p = new ProgramBuilder()
  for (const [name, shape] of [...givenOf(said), ...stateOf(said)]) p.there(name, shape)
  const sequences = lengths.length
  const first = shortest(said)
  const span = number === 1 ? { place: 0, tokens: first } : { place: first + number - 2, tokens: 1 }
  const next = span.place + span.tokens
  const read = p.step('cut', ['tokens'], { column: span.place, columns: span.tokens, width: 1 })
  const pass = new InferencePass(p, model, { sequences, ...span })
  const logits = pass.logits(read)
  const row = lengths.filter((length) => length > next).length
  const chosen = p.needed(ASKED, () => p.step('argmax', [chosenBy(p, said, logits, next, seed)], {}, { isChoke: true }))
  const tokens = p.step('put', ['tokens', chosen], { row, column: next }, { isChoke: true })
  const column = Math.max(0, next + 1 - shown)
  const figures =
    shown > 0 ? [p.step('cut', [tokens], { column, columns: shown, width: shown }, { name: 'shown' })] : []
  return p.build([tokens, ...pass.caches.flatMap(cacheParts)], figures)
}

/** W2.10.3. Logits as they are, or with the noise of each sequence at the place of its next token. */
function chosenBy(
  p: ProgramBuilder,
  { lengths, sampling }: InferenceParameters,
  logits: string,
  place: number,
  seed: Uint8Array,
): string {
  if (!sampling) return logits
  const rows = lengths.length
  const [key0, key1] = sampling.key ?? words32(seed)
  const sequences = p.step('places', [], { rows, width: 1, period: rows })
  const positions = p.step('fillWords', [], { rows, width: 1, value: place })
  return p.step('sampleNoise', [logits, sequences, positions], { factor: sampling.factor, key0: key0!, key1: key1! })
}

/** What comes from outside: tokens within the vocabulary, no -128, numbers that are numbers, scales above 0. */
function requireGiven(given: ReadonlyMap<string, Uint8Array>, said: InferenceParameters): void {
  for (const [name, shape] of givenOf(said)) {
    const bytes = given.get(name)!
    if (shape.type === 'i8') requireThat(!bytes.includes(0x80), 'BAD_INPUT', `${name} holds -128`)
    else if (shape.type === 'u32') {
      const areTokens = words32(bytes).every((token) => token < said.model.vocabulary)
      requireThat(areTokens, 'BAD_INPUT', `${name} has a token outside the vocabulary`)
    } else requireThat(areNumbers(bytes, name.endsWith('.scales')), 'BAD_INPUT', `${name} has a number that is none`)
  }
}

function areNumbers(bytes: Uint8Array, arePositive: boolean): boolean {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  for (let at = 0; at < bytes.length; at += 4) {
    const bits = view.getUint32(at, true)
    if ((bits & 0x7f800000) === 0x7f800000 || (arePositive && floatOf(bits) <= 0)) return false
  }
  return true
}

/**
 * One token more costs as much more every time: the second transition and the last stand for all between. What is done for
 * the next token of a sequence counts where its prompt is over (W4.5): between those two by how near it is to each.
 */
function countedOf({ lengths, total }: InferenceParameters, transitions: number): Counted[] {
  // The share of the sequences whose prompt ends with a transition, or before it.
  const ended = new Float64Array(transitions + 1)
  for (const length of lengths) ended[length - (total - transitions) + 1]! += 1 / lengths.length
  for (let number = 1; number < transitions; number++) ended[number + 1]! += ended[number]!
  const [, inFirst = 0, ...after] = ended
  if (transitions === 1) return [[1, 1, inFirst]]
  const nearLast = after.reduce((sum, share, i) => sum + (share * i) / Math.max(1, transitions - 2), 0)
  const half = (transitions - 1) / 2
  return [
    [1, 1, inFirst],
    [2, half, after.reduce((sum, share) => sum + share, 0) - nearLast],
    [transitions, half, nearLast],
  ]
}

/** A language model that goes on from prompts: its weights are handed in, its cache is the state. Figures: tokens. */
export const inference: Kind<InferenceParameters> = {
  name: 'inference',
  parameters,
  isIndependent: false,
  maxInterval: 256,
  requireTransitions(said, transitions) {
    const wanted = said.total - shortest(said)
    requireThat(
      transitions === wanted,
      'BAD_SPEC',
      `from ${shortest(said)} to ${said.total} tokens are ${wanted} transitions`,
    )
  },
  given: givenOf,
  requireGiven,
  state: stateOf,
  begin,
  transition,
  // The same but for the place: from where the next prompt ends, and from where the figures are no more of prompts alone.
  alike(said, transition) {
    if (transition === 1) return 1
    const first = shortest(said)
    const ends = said.lengths.map((length) => length - first + 1).filter((end) => end <= transition)
    return Math.max(2, ...ends, ...[said.shown - first].filter((end) => end <= transition))
  },
  counted: countedOf,
  unit: 'int8',
  figures: [],
  guarantees: [
    'Replay: every drawn segment is exactly right; a share e of wrong segments passes 8 draws with (1 - e)^8.',
    'Openings: a share e of segments in which a share x of the products is wrong passes with (1 - e (1 - (1 - x)^16))^8; one wrong segment can give all sequences the text of one, and the rest is cheap then.',
    'Openings show work, not which text is right. A text that was written past the choice of the model is found in every drawn segment. One wrong token in a segment of I transitions and S sequences passes with 1 - 1 / (I S), and one wrong logit for every token, which makes any text, nearly always. Replay of the whole, or replicas, show which text is right.',
    'Neither shows a segment that was not drawn: one wrong token in it makes another text, which replay of the whole finds.',
    'Nothing shows that tokens were made one after the other: who knows them can check them at once.',
  ],
}
