import type { ModelShape } from './modelShape.ts'

/** How fresh parameters are drawn: weights around zero, gains at one, biases at zero. */
export type Start = { readonly spread: number } | { readonly value: number }

export interface Parameter {
  readonly name: string
  readonly dims: readonly number[]
  readonly length: number
  /** Place in the one buffer that holds all parameters, in elements. */
  readonly offset: number
  readonly start: Start
}

export interface ParameterLayout {
  readonly parameters: readonly Parameter[]
  /** Elements of the whole buffer, gaps included. */
  readonly length: number
}

/** Every tensor begins at a multiple of 256 bytes, as product libraries like it. */
const ALIGNMENT = 64

/** All parameters of a model in one buffer, so that averaging and optimising are one operation each. */
export function parameterLayout(shape: ModelShape): ParameterLayout {
  const parameters: Parameter[] = []
  let offset = 0
  for (const { name, dims, start } of listed(shape)) {
    const length = dims.reduce((product, size) => product * size, 1)
    parameters.push({ name, dims, length, offset, start })
    offset += Math.ceil(length / ALIGNMENT) * ALIGNMENT
  }
  return { parameters, length: offset }
}

type Listed = Pick<Parameter, 'name' | 'dims' | 'start'>

function listed({ vocabulary, context, width, layers }: ModelShape): Listed[] {
  const spread = 0.02
  const blocks = Array.from({ length: layers }, (_, index) => block(`layers.${index}`, width, layers))
  return [
    { name: 'tokens.weight', dims: [vocabulary, width], start: { spread } },
    { name: 'positions.weight', dims: [context, width], start: { spread } },
    ...blocks.flat(),
    ...norm('norm', width),
    { name: 'head.weight', dims: [vocabulary, width], start: { spread } },
  ]
}

function block(name: string, width: number, layers: number): Listed[] {
  // What is added to the residual stream is drawn smaller, so that its variance does not grow with depth.
  const inner = 0.02 / Math.sqrt(2 * layers)
  return [
    ...norm(`${name}.norm1`, width),
    ...linear(`${name}.attention.input`, 3 * width, width, 0.02),
    ...linear(`${name}.attention.output`, width, width, inner),
    ...norm(`${name}.norm2`, width),
    ...linear(`${name}.mlp.up`, 4 * width, width, 0.02),
    ...linear(`${name}.mlp.down`, width, 4 * width, inner),
  ]
}

const norm = (name: string, width: number): Listed[] => [
  { name: `${name}.gain`, dims: [width], start: { value: 1 } },
  { name: `${name}.shift`, dims: [width], start: { value: 0 } },
]

const linear = (name: string, outputs: number, inputs: number, spread: number): Listed[] => [
  { name: `${name}.weight`, dims: [outputs, inputs], start: { spread } },
  { name: `${name}.bias`, dims: [outputs], start: { value: 0 } },
]
