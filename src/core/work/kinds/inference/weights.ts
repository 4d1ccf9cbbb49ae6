import * as z from 'zod'
import { decoderSchema } from '../../model/decoder.ts'
import type { TensorShape } from '../../tensor.ts'

/** A decoder that is run: whether its head is the table of tokens is the checkpoint's affair. */
export const modelSchema = decoderSchema
  .omit({ isTied: true })
  .extend({
    /** How far a norm's root stays from 0, as the bits of a float. */
    epsilon: z.int().min(1).max(0x3f800000),
  })
  .refine(({ heads, keyHeads }) => heads % keyHeads === 0)
  .refine(({ family, headSize }) => family === 'gpt' || headSize % 2 === 0)
  .refine(({ family, rotaryBase }) => (family === 'gpt') === (rotaryBase === 0))
  .refine(({ family, hasQkvBias }) => family === 'llama' || hasQkvBias)

export type Model = z.infer<typeof modelSchema>

/** W9.1. A matrix by its outputs: int8 rows, a scale for each, and a bias where it has one. */
export interface Matrix {
  readonly name: string
  readonly outputs: number
  readonly inputs: number
  readonly hasBias: boolean
}

/** Rows of q, k and v of one layer are one matrix. */
export const qkvRows = ({ heads, keyHeads, headSize }: Model): number => (heads + 2 * keyHeads) * headSize

/** The matrices of layer i, in the order they are used. */
export function layerMatrices(of: Model, i: number): readonly Matrix[] {
  const { family, width, heads, headSize, hidden, hasQkvBias } = of
  const isGpt = family === 'gpt'
  const matrix = (name: string, outputs: number, inputs: number, hasBias = isGpt): Matrix => ({
    ...{ name: `${i}.${name}`, outputs, inputs, hasBias },
  })
  return [
    matrix('qkv', qkvRows(of), width, hasQkvBias),
    matrix('o', width, heads * headSize),
    ...(isGpt ? [] : [matrix('gate', hidden, width)]),
    matrix('up', hidden, width),
    matrix('down', width, hidden),
  ]
}

/** From the last norm to the logits. */
export const headMatrix = ({ vocabulary, width }: Model): Matrix => ({
  ...{ name: 'head', outputs: vocabulary, inputs: width, hasBias: false },
})

/** Names of the norms, in the order they are used. */
export const normNames = ({ layers }: Model): readonly string[] => [
  ...Array.from({ length: layers }, (_, i) => [`${i}.norm1`, `${i}.norm2`]).flat(),
  'final',
]

const floats = (rows: number, width: number): TensorShape => ({ type: 'f32', rows, width })

/** W9.1. What a model hands in: tables and vectors in f32, matrices as int8 with scales. */
export function modelTensors(of: Model): ReadonlyMap<string, TensorShape> {
  const { family, layers, width, vocabulary, context } = of
  const isGpt = family === 'gpt'
  const out = new Map([['embed', floats(vocabulary, width)]])
  if (isGpt) out.set('positions', floats(context, width))
  for (const name of normNames(of)) {
    out.set(`${name}.gain`, floats(1, width))
    if (isGpt) out.set(`${name}.shift`, floats(1, width))
  }
  const matrices = [...Array.from({ length: layers }, (_, i) => layerMatrices(of, i)).flat(), headMatrix(of)]
  for (const { name, outputs, inputs, hasBias } of matrices) {
    out.set(`${name}.weight`, { type: 'i8', rows: outputs, width: inputs })
    out.set(`${name}.scales`, floats(1, outputs))
    if (hasBias) out.set(`${name}.bias`, floats(1, outputs))
  }
  return out
}
