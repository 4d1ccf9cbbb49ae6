import { toHex } from '../../src/core/bytes/hex.ts'
import { sha256 } from '../../src/core/bytes/sha256.ts'
import type { TensorHasher } from '../../src/core/work/engineRun.ts'
import { training } from '../../src/core/work/kinds/training/training.ts'
import { bitsOf } from '../../src/core/work/ops/shapes.ts'
import { openWork, type Work } from '../../src/core/work/work.ts'
import type { WorkKernels } from '../../src/core/work/workKernels.ts'
import { EXACT_OPS } from '../../src/core/work/workOps.ts'
import { encodeSpec } from '../../src/core/work/workSpec.ts'

const model = { layers: 2, width: 32, heads: 2, keyHeads: 2, headSize: 16, vocabulary: 64, context: 16 }
const families = {
  gpt: { ...model, family: 'gpt', hidden: 96, hasQkvBias: true, isTied: true, rotaryBase: 0 },
  llama: { ...model, family: 'llama', hidden: 80, hasQkvBias: false, isTied: false, rotaryBase: bitsOf(10_000) },
} as const
const float = (value: number) => bitsOf(value)
const adamW = {
  name: 'adamW',
  ...{ beta1: float(0.9), beta2: float(0.95), epsilon: float(1e-8), decay: float(0.01), clip: float(1) },
  rates: [
    [0, float(0)],
    [5, float(0.01)],
    [40, float(0.002)],
  ],
}

const WINDOWS = 40
/** A text that repeats: what comes next can be learned. */
const data = Uint32Array.from({ length: WINDOWS * 17 }, (_, i) => (i * i + 3 * i) % 61)
const bytesOf = (values: ArrayBufferView) => new Uint8Array(values.buffer, values.byteOffset, values.byteLength)

export type Family = keyof typeof families

type OtherModel = Partial<Record<keyof typeof model | 'hidden', number> & Record<'hasQkvBias' | 'isTied', boolean>>

/** A decoder of two layers on a text that can be learned, so many transitions long. */
export function tinyTraining(
  family: Family,
  transitions: number,
  hasher: TensorHasher,
  more: { readonly shards?: number; readonly model?: OtherModel } = {},
): { readonly work: Work<WorkKernels>; readonly given: ReadonlyMap<string, Uint8Array> } {
  const { model: other = {}, ...rest } = more
  const shape = { ...families[family], ...other }
  const parameters = {
    model: shape,
    optimiser: adamW,
    sequences: 4,
    tokens: 16,
    windows: WINDOWS,
    start: 'fresh',
    ...rest,
  }
  const given = new Map([['data', bytesOf(data)]])
  const shapes = training.given(training.parameters.parse(parameters))
  const inputs = [...shapes].map(([name, of]) => ({ name, uri: '', root: toHex(hasher.root(of, given.get(name)!)) }))
  const text = encodeSpec({ kind: 'training', version: 1, parameters, inputs, transitions, interval: 1 })
  const order = { text, orderId: sha256(Uint8Array.of(1)), seed: sha256(Uint8Array.of(2)) }
  return { work: openWork({ training }, EXACT_OPS, order), given }
}
