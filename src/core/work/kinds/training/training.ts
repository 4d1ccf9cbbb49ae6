import * as z from 'zod'
import { words32 } from '../../../bytes/bytes.ts'
import type { Kind, Turn } from '../../kind.ts'
import { decoderParameters, decoderSchema } from '../../model/decoder.ts'
import { DecoderPass } from '../../model/decoderPass.ts'
import { bitsOf } from '../../ops/shapes.ts'
import type { Program } from '../../program.ts'
import { ProgramBuilder } from '../../programBuilder.ts'
import { requireThat } from '../../refusals.ts'
import type { TensorShape } from '../../tensor.ts'
import { momentsOf, optimise, optimiserSchema } from './optimiser.ts'

const parameters = z
  .strictObject({
    model: decoderSchema,
    optimiser: optimiserSchema,
    /** Sequences in a transition, and tokens in each. */
    sequences: z.int().min(1).max(65_536),
    tokens: z.int().min(1).max(131_072),
    /** Windows of the data: rows of tokens, one more than a sequence has. */
    windows: z
      .int()
      .min(1)
      .max(2 ** 31),
    start: z.enum(['fresh', 'given']),
  })
  .refine(({ model, tokens }) => tokens <= model.context)
  .refine(({ model }) => model.heads === model.keyHeads)
  .refine(({ sequences, windows }) => sequences <= windows)

type Parameters = z.infer<typeof parameters>

/** Parameters beside their moments: w, m, v of each, in file order. */
function stateOf({ model, optimiser }: Parameters): ReadonlyMap<string, TensorShape> {
  const moments = momentsOf(optimiser)
  return new Map(
    [...decoderParameters(model)].flatMap(([name, shape]) => [
      [name, shape] as const,
      ...moments.map((moment) => [`${name}/${moment}`, shape] as const),
    ]),
  )
}

function givenOf(said: Parameters): ReadonlyMap<string, TensorShape> {
  const { model, tokens, windows, start } = said
  const given = new Map<string, TensorShape>([['data', { type: 'u32', rows: windows, width: tokens + 1 }]])
  if (start === 'given') for (const [name, shape] of decoderParameters(model)) given.set(`start.${name}`, shape)
  return given
}

/** Transition 0 of every draw makes the fresh weights. */
function begin(said: Parameters, seed: Uint8Array): Program {
  const p = new ProgramBuilder()
  const [key0, key1] = words32(seed) as unknown as [number, number]
  for (const [name, shape] of givenOf(said)) p.there(name, shape)
  const moments = momentsOf(said.optimiser)
  const after = [...decoderParameters(said.model)].flatMap(([name, shape], tensor) => {
    const { rows, width } = shape
    const constant = (value: number) => p.step('fill', [], { rows, width, value: bitsOf(value) })
    const draw = { key0, key1, tensor, transition: 0 }
    const fresh = () => {
      if (name.endsWith('.gain')) return constant(1)
      if (name.endsWith('.shift') || name.endsWith('.bias')) return constant(0)
      return p.step('normal', [], { rows, width, deviation: bitsOf(0.02), mean: bitsOf(0), ...draw })
    }
    const weight = said.start === 'given' ? p.step('reshape', [`start.${name}`], { width }) : fresh()
    return [weight, ...moments.map(() => constant(0))]
  })
  return p.build(after)
}

function transition(said: Parameters, { transition: number, seed }: Turn): Program {
  const { model, optimiser, sequences, tokens, windows } = said
  const p = new ProgramBuilder()
  for (const [name, shape] of [...givenOf(said), ...stateOf(said)]) p.there(name, shape)
  const words = words32(seed)
  const perEpoch = Math.floor(windows / sequences)
  const [epoch, turn] = [Math.floor((number - 1) / perEpoch), (number - 1) % perEpoch]
  const seedWords = Object.fromEntries([...words].map((word, i) => [`seed${i}`, word]))
  const order = { epoch, windows, first: turn * sequences, count: sequences }
  const which = p.step('windowOrder', [], { ...order, ...seedWords })
  const taken = p.step('embed', [which, 'data'], {}, { name: 'windows' })
  const part = (column: number) => p.step('cut', [taken], { column, columns: tokens, width: 1 })
  const [inputs, targets] = [part(0), part(1)]
  const pass = new DecoderPass(p, model, sequences, tokens)
  const trail = pass.forward(inputs)
  const { logits } = trail
  const maximum = p.step('rowMaximum', [logits])
  const sum = p.step('exponentialSum', [logits, maximum])
  const losses = p.step('crossEntropy', [logits, maximum, sum, targets], {}, { isChoke: true })
  const rows = sequences * tokens
  const factor = bitsOf(Math.fround(1 / rows))
  const total = p.step('rowSum', [p.step('reshape', [losses], { width: rows })])
  const loss = p.step('scale', [total], { factor }, { name: 'loss', isChoke: true })
  const dLogits = p.step('crossEntropyBackward', [logits, maximum, sum, targets], { factor }, { isChoke: true })
  const gradients = pass.backward(trail, dLogits, { key0: words[0]!, key1: words[1]!, transition: number })
  const inOrder = new Map([...decoderParameters(model).keys()].map((name) => [name, gradients.get(name)!]))
  const { norm, after } = optimise(p, optimiser, number, inOrder)
  return p.build(
    [...stateOf(said).keys()].map((name) => after.get(name)!),
    [loss, norm],
  )
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
  state: stateOf,
  begin,
  transition,
  figures: ['loss', 'norm'],
  guarantees: [
    'Replay: every drawn segment is exactly right; a share e of wrong segments passes 8 draws with (1 - e)^8.',
    'Openings: work of this size was done; a share e of segments in which a share x of the products is wrong passes with (1 - e (1 - (1 - x)^16))^8.',
    'Neither shows a segment that was not drawn.',
  ],
}
