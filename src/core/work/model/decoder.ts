import * as z from 'zod'
import type { TensorShape } from '../tensor.ts'

/** A decoder as GPT-2 has it (positions learned, layer norms, GELU), or as Llama has it (turned, root mean square, SiLU). */
export const decoderSchema = z.strictObject({
  family: z.enum(['gpt', 'llama']),
  layers: z.int().min(1).max(256),
  width: z.int().min(1).max(65_536),
  heads: z.int().min(1).max(1024),
  keyHeads: z.int().min(1).max(1024),
  headSize: z.int().min(2).max(1024),
  hidden: z.int().min(1).max(262_144),
  vocabulary: z.int().min(2).max(1_000_000),
  context: z.int().min(1).max(131_072),
  /** Base of the frequencies of a Llama, as the bits of a float; 0 of a GPT, which has none. */
  rotaryBase: z.int().min(0).max(0x7f7fffff),
  /** Biases of q, k and v: GPT has them everywhere, Qwen2 here alone. */
  hasQkvBias: z.boolean(),
  /** The head is the table of tokens. */
  isTied: z.boolean(),
})

export type Decoder = z.infer<typeof decoderSchema>

const matrix = (rows: number, width: number): TensorShape => ({ type: 'f32', rows, width })

/** Names and shapes of the parameters, in file order. Matrices lie by their outputs. */
export function decoderParameters(of: Decoder): ReadonlyMap<string, TensorShape> {
  const { family, layers, width, heads, keyHeads, headSize, hidden, vocabulary, context } = of
  const isGpt = family === 'gpt'
  const out = new Map<string, TensorShape>([['embed', matrix(vocabulary, width)]])
  if (isGpt) out.set('positions', matrix(context, width))
  const normAt = (name: string) => {
    out.set(`${name}.gain`, matrix(1, width))
    if (isGpt) out.set(`${name}.shift`, matrix(1, width))
  }
  const linearAt = (name: string, outputs: number, inputs: number, hasBias: boolean) => {
    out.set(`${name}.weight`, matrix(outputs, inputs))
    if (hasBias) out.set(`${name}.bias`, matrix(1, outputs))
  }
  for (let i = 0; i < layers; i++) {
    const at = (name: string) => `layers.${i}.${name}`
    normAt(at('norm1'))
    for (const [name, count] of [
      ['q', heads],
      ['k', keyHeads],
      ['v', keyHeads],
    ] as const)
      linearAt(at(name), count * headSize, width, isGpt || of.hasQkvBias)
    linearAt(at('o'), width, heads * headSize, isGpt)
    normAt(at('norm2'))
    if (!isGpt) linearAt(at('gate'), hidden, width, false)
    linearAt(at('up'), hidden, width, isGpt)
    linearAt(at('down'), width, hidden, isGpt)
  }
  normAt('final')
  if (!of.isTied) out.set('head.weight', matrix(vocabulary, width))
  return out
}
