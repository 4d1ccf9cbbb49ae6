import { readFileSync } from 'node:fs'
import { u32le } from '../../src/core/bytes/bytes.ts'
import { fromHex, toHex } from '../../src/core/bytes/hex.ts'
import { sha256 } from '../../src/core/bytes/sha256.ts'
import type { TensorHasher } from '../../src/core/work/engineRun.ts'
import { type InferenceParameters, inference } from '../../src/core/work/kinds/inference/inference.ts'
import { type TensorShape, tensorBytes } from '../../src/core/work/tensor.ts'
import { openWork, type Work } from '../../src/core/work/work.ts'
import type { WorkKernels } from '../../src/core/work/workKernels.ts'
import { EXACT_OPS } from '../../src/core/work/workOps.ts'
import { encodeSpec } from '../../src/core/work/workSpec.ts'

export interface InferenceVector {
  readonly name: string
  readonly model: InferenceParameters['model']
  readonly prompts: readonly (readonly number[])[]
  readonly total: number
  readonly sampling: InferenceParameters['sampling']
  readonly seed: string
  readonly tokens: readonly (readonly number[])[]
  readonly state: string
}

/** By the second implementation: test/independent/inference.py. */
export const inferenceVectors = (): readonly InferenceVector[] =>
  JSON.parse(readFileSync(new URL('../vectors/inference.json', import.meta.url), 'utf8'))

function* stream(label: string): Generator<number, never> {
  const text = new TextEncoder().encode(label)
  for (let number = 0; ; number++) yield* sha256(new Uint8Array([...text, ...u32le(number)]))
}

/** How far numbers of a tensor reach, and around what. */
const sizeOf = (name: string): readonly [size: number, middle: number] => {
  if (name.endsWith('.scales')) return [2 ** -11, 2 ** -9]
  if (name.endsWith('.bias')) return [0.25, 0]
  if (name.endsWith('.gain')) return [0.5, 1]
  return [name === 'embed' ? 1 : 0.5, 0]
}

/** The weights of the vectors: bytes that a name makes. */
function contentOf(name: string, { type, rows, width }: TensorShape): Uint8Array {
  const bytes = stream(name)
  const [size, middle] = sizeOf(name)
  const count = rows * width
  if (type === 'i8') return Uint8Array.from({ length: count }, () => (bytes.next().value % 255) - 127)
  const floats = Float32Array.from({ length: count }, () => middle + ((bytes.next().value - 128) * size) / 128)
  return new Uint8Array(floats.buffer)
}

export interface TinyInference {
  readonly work: Work<WorkKernels>
  readonly given: ReadonlyMap<string, Uint8Array>
}

/** A model of two layers that goes on from a few prompts. */
export function tinyInference(
  { model, prompts, total, sampling, seed }: Omit<InferenceVector, 'name' | 'tokens' | 'state'>,
  hasher: TensorHasher,
  { interval = 2, shown = 2 } = {},
): TinyInference {
  const parameters = { model, lengths: prompts.map(({ length }) => length), total, shown, sampling }
  const shapes = inference.given(inference.parameters.parse(parameters))
  const cells = prompts.flatMap((prompt) => [...prompt, ...Array<number>(total - prompt.length).fill(0)])
  const given = new Map(
    [...shapes].map(([name, shape]) => [
      name,
      name === 'prompts' ? new Uint8Array(Uint32Array.from(cells).buffer) : contentOf(name, shape),
    ]),
  )
  const inputs = [...shapes].map(([name, shape]) => {
    if (given.get(name)!.length !== tensorBytes(shape)) throw new RangeError(name)
    return { name, uri: '', root: toHex(hasher.root(shape, given.get(name)!)) }
  })
  const transitions = total - prompts.at(-1)!.length
  const text = encodeSpec({ kind: 'inference', version: 1, parameters, inputs, transitions, interval })
  const order = { text, orderId: sha256(Uint8Array.of(1)), seed: fromHex(seed, 32)! }
  return { work: openWork({ inference }, EXACT_OPS, order), given }
}
