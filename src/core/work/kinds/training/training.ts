import * as z from 'zod'
import { words32 } from '../../../bytes/bytes.ts'
import type { Kind, Turn } from '../../kind.ts'
import { decoderParameters, decoderSchema } from '../../model/decoder.ts'
import { DecoderPass } from '../../model/decoderPass.ts'
import type { Rounding } from '../../model/layers.ts'
import { bitsOf, floatOf } from '../../ops/shapes.ts'
import { type Program, TOLD } from '../../program.ts'
import { ProgramBuilder } from '../../programBuilder.ts'
import { requireThat } from '../../refusals.ts'
import type { TensorShape } from '../../tensor.ts'
import { MlpPass, mlpParameters, mlpSchema } from './mlp.ts'
import { momentsOf, type Optimiser, optimise, optimiserSchema } from './optimiser.ts'

const parameters = z
  .strictObject({
    model: z.discriminatedUnion('family', [decoderSchema, mlpSchema]),
    optimiser: optimiserSchema,
    /** Sequences in a transition, and tokens in each. A sample of an MLP is a sequence of one token. */
    sequences: z.int().min(1).max(65_536),
    tokens: z.int().min(1).max(131_072),
    /** Windows of the data: rows of tokens, one more than a sequence has; or samples. */
    windows: z
      .int()
      .min(1)
      .max(2 ** 31),
    /** `given`: weights are handed in; `state`: their moments too. */
    start: z.enum(['fresh', 'given', 'state']),
    /** W3.8. Equal parts of a batch whose gradients are added in their order; without it, one. */
    shards: z.int().min(2).max(64).optional(),
    /** Transitions that were done before, with a state that is handed in: rates, epochs and draws go on from there. */
    done: z.int().min(1).max(10_000_000).optional(),
  })
  .refine(({ model, tokens }) => tokens <= (model.family === 'mlp' ? 1 : model.context))
  .refine(({ model }) => model.family === 'mlp' || model.heads === model.keyHeads)
  .refine(({ sequences, windows }) => sequences <= windows)
  .refine(({ sequences, shards = 1 }) => sequences % shards === 0)
  .refine(({ start, done }) => (start === 'state') === (done !== undefined))

export type TrainingParameters = z.infer<typeof parameters>
type Parameters = TrainingParameters

const weightsOf = ({ model }: Parameters): ReadonlyMap<string, TensorShape> =>
  model.family === 'mlp' ? mlpParameters(model) : decoderParameters(model)

/** Parameters beside their moments: w, m, v of each, in file order. */
function stateOf(said: Parameters): ReadonlyMap<string, TensorShape> {
  const moments = momentsOf(said.optimiser)
  return new Map(
    [...weightsOf(said)].flatMap(([name, shape]) => [
      [name, shape] as const,
      ...moments.map((moment) => [`${name}/${moment}`, shape] as const),
    ]),
  )
}

function givenOf(said: Parameters): ReadonlyMap<string, TensorShape> {
  const { model, tokens, windows, start } = said
  const given = new Map<string, TensorShape>()
  if (model.family === 'mlp') {
    given.set('data', { type: 'f32', rows: windows, width: model.sizes[0]! })
    given.set('labels', { type: 'u32', rows: windows, width: 1 })
  } else given.set('data', { type: 'u32', rows: windows, width: tokens + 1 })
  const wanted = { fresh: [], given: weightsOf(said), state: stateOf(said) }[start]
  for (const [name, shape] of wanted) given.set(startOf(name), shape)
  return given
}

/** What a tensor of the state is called where it is handed in. */
export const startOf = (name: string): string => `start.${name.replace('/', '.')}`

/** Transition 0 of every draw makes the fresh weights. */
function begin(said: Parameters, seed: Uint8Array): Program {
  const p = new ProgramBuilder()
  const [key0, key1] = words32(seed) as unknown as [number, number]
  for (const [name, shape] of givenOf(said)) p.there(name, shape)
  const moments = momentsOf(said.optimiser)
  const after = [...weightsOf(said)].flatMap(([name, shape], tensor) => {
    const { rows, width } = shape
    const handedIn = (tensor: string) => p.step('reshape', [startOf(tensor)], { width })
    const constant = (value: number) => p.step('fill', [], { rows, width, value: bitsOf(value) })
    const draw = { key0, key1, tensor, transition: 0 }
    const fresh = () => {
      if (name.endsWith('.gain')) return constant(1)
      if (name.endsWith('.shift') || name.endsWith('.bias')) return constant(0)
      const { deviation, mean } = said.model.family === 'mlp' ? mixture(width) : SMALL_NORMAL
      return p.step('normal', [], { rows, width, deviation: bitsOf(deviation), mean: bitsOf(mean), ...draw })
    }
    const weight = said.start === 'fresh' ? fresh() : handedIn(name)
    return [weight, ...moments.map((moment) => (said.start === 'state' ? handedIn(`${name}/${moment}`) : constant(0)))]
  })
  return p.build(after)
}

const SMALL_NORMAL = { deviation: 0.02, mean: 0 }

/** W2.10.1. Two humps whose variance is that of He: 2 / fan-in. */
const mixture = (fanIn: number) => {
  const deviation = Math.fround(Math.sqrt(2 / (5 * fanIn)))
  return { deviation, mean: 2 * deviation }
}

interface Pass {
  readonly logits: string
  readonly targets: string
  backward(dLogits: string, rounding: Rounding): ReadonlyMap<string, string>
}

/** Through the model with the windows that were drawn, and back. */
function passOf(p: ProgramBuilder, { model, tokens }: Parameters, which: string, sequences: number): Pass {
  const taken = p.step('embed', [which, 'data'], {}, { name: 'windows' })
  if (model.family === 'mlp') {
    const pass = new MlpPass(p)
    const logits = pass.forward(model, taken, sequences)
    const targets = p.step('embed', [which, 'labels'], {}, { name: 'labels' })
    return { logits, targets, backward: (dLogits, rounding) => pass.backward(dLogits, rounding) }
  }
  const part = (column: number) => p.step('cut', [taken], { column, columns: tokens, width: 1 })
  const [inputs, targets] = [part(0), part(1)]
  const pass = new DecoderPass(p, model, sequences, tokens)
  const trail = pass.forward(inputs)
  return { logits: trail.logits, targets, backward: (dLogits, rounding) => pass.backward(trail, dLogits, rounding) }
}

/** Which windows a transition takes, and where its chance comes from. */
interface Batch {
  readonly epoch: number
  /** In the order of the epoch. */
  readonly first: number
  readonly words: Uint32Array
  readonly number: number
}

/** What one shard adds: its part of the loss, and of every gradient in file order. */
interface Added {
  readonly loss: string
  readonly gradients: ReadonlyMap<string, string>
}

/** One shard there and back. Losses and gradients are shares of the whole batch, so that they need only be added. */
function shardOf(p: ProgramBuilder, said: Parameters, { epoch, first, words, number }: Batch, shard: number): Added {
  const { sequences, tokens, windows, shards = 1 } = said
  const count = sequences / shards
  const seedWords = Object.fromEntries([...words].map((word, i) => [`seed${i}`, word]))
  const which = p.step('windowOrder', [], { epoch, windows, first: first + shard * count, count, ...seedWords })
  const { logits, targets, backward } = passOf(p, said, which, count)
  const maximum = p.step('rowMaximum', [logits])
  const sum = p.step('exponentialSum', [logits, maximum])
  const factor = bitsOf(Math.fround(1 / (sequences * tokens)))
  const loss = p.needed(TOLD, () => {
    const losses = p.step('crossEntropy', [logits, maximum, sum, targets], {}, { isChoke: true })
    const total = p.step('rowSum', [p.step('reshape', [losses], { width: count * tokens })])
    return p.step('scale', [total], { factor }, { name: 'loss', isChoke: true })
  })
  const dLogits = p.step('crossEntropyBackward', [logits, maximum, sum, targets], { factor }, { isChoke: true })
  const gradients = backward(dLogits, { key0: words[0]!, key1: words[1]!, transition: number })
  return { loss, gradients: new Map([...weightsOf(said).keys()].map((name) => [name, gradients.get(name)!])) }
}

/** W3.8. In the order of the shards, one after the other. */
function addUp(p: ProgramBuilder, [first, ...more]: readonly Added[]): Added {
  const add = (a: string, b: string) => p.step('add', [a, b])
  const gradients = [...first!.gradients].map(
    ([name, own]) => [name, more.map((one) => one.gradients.get(name)!).reduce(add, own)] as const,
  )
  return { loss: more.map(({ loss }) => loss).reduce(add, first!.loss), gradients: new Map(gradients) }
}

/** W4.5. Of a table that is read by rows, the share that a step can read at most: the others stay as they are (attack 455). */
function lookedUp({ model, sequences, tokens }: Parameters, name: string): number {
  if (!('vocabulary' in model)) return 1
  if (name === 'positions') return Math.min(1, tokens / model.context)
  return name === 'embed' && !model.isTied ? Math.min(1, (sequences * tokens) / model.vocabulary) : 1
}

function transition(said: Parameters, turn: Turn): Program {
  const { optimiser, sequences, windows, shards = 1 } = said
  const number = turn.transition + (said.done ?? 0)
  const p = new ProgramBuilder()
  for (const [name, shape] of [...givenOf(said), ...stateOf(said)]) p.there(name, shape)
  const perEpoch = Math.floor(windows / sequences)
  const [epoch, batch] = [Math.floor((number - 1) / perEpoch), (number - 1) % perEpoch]
  const taken = { epoch, first: batch * sequences, words: words32(turn.seed), number }
  const added = Array.from({ length: shards }, (_, shard) => {
    p.shard = shards === 1 ? null : shard
    return shardOf(p, said, taken, shard)
  })
  p.shard = null
  const { loss, gradients } = addUp(p, added)
  const { norm, after } = optimise(p, optimiser, number, gradients, (name) => lookedUp(said, name))
  return p.build(
    [...stateOf(said).keys()].map((name) => after.get(name)!),
    [loss, norm],
  )
}

/** W2.9.3 keeps moments of clipped gradients within this, but for rounding. */
const SLACK = 1.001

/** The largest that a moment can be under the clip. Larger ones would swallow every gradient, and show no work. */
function largestMoment(optimiser: Optimiser, moment: string): number {
  const clip = floatOf(optimiser.clip) * SLACK
  if (optimiser.name === 'sgd') return clip / Math.max(1 - floatOf(optimiser.momentum), 1e-6)
  return moment === 'm' ? clip : clip * clip
}

/** W4.5. Numbers that are none, and moments that no gradients make, are nothing to begin with. */
function requireGiven(given: ReadonlyMap<string, Uint8Array>, said: Parameters): void {
  if (said.start === 'fresh') return
  for (const name of (said.start === 'given' ? weightsOf(said) : stateOf(said)).keys()) {
    const values = new Float32Array(new Uint8Array(given.get(startOf(name))!).buffer)
    const [, moment] = name.split('/')
    const most = moment === undefined ? Number.MAX_VALUE : largestMoment(said.optimiser, moment)
    const isSquare = said.optimiser.name === 'adamW' && moment === 'v'
    const isSane = values.every((value) => Math.abs(value) <= most && !(isSquare && value < 0))
    requireThat(isSane, 'BAD_INPUT', `${startOf(name)} has a number that is none, or larger than gradients make it`)
  }
}

/** A language model, trained on tokens: every step on tensor cores, and the same bits on every device. */
export const training: Kind<Parameters> = {
  name: 'training',
  parameters,
  isIndependent: false,
  maxInterval: 1,
  requireTransitions(_, transitions) {
    requireThat(transitions <= 10_000_000, 'TOO_BIG', `${transitions} transitions`)
  },
  given: givenOf,
  requireGiven,
  state: stateOf,
  begin,
  transition,
  alone: (said) =>
    said.shards === undefined && said.sequences > 1
      ? { parameters: { ...said, sequences: 1 }, sequences: said.sequences }
      : null,
  unit: 'int8',
  figures: ['loss', 'norm'],
  guarantees: [
    'Replay: every drawn segment is exactly right; a share e of wrong segments passes 8 draws with (1 - e)^8.',
    'Openings: work of this size was done, unless a wrong segment led to where the rest is cheap; a share e of segments in which a share x of the products is wrong passes with (1 - e (1 - (1 - x)^16))^8.',
    'Neither shows a segment that was not drawn.',
  ],
}
