import type { ModelShape } from '../../core/workload/modelShape.ts'
import type { Tensor, TensorDevice } from '../../ports/tensorDevice.ts'

/** What the way forward leaves for the way back, per block. */
export interface BlockActivations {
  readonly input: Tensor
  readonly normed1: Tensor
  readonly statistics1: Tensor
  readonly queries: Tensor
  readonly keys: Tensor
  readonly values: Tensor
  readonly probabilities: Tensor
  readonly attended: Tensor
  readonly middle: Tensor
  readonly normed2: Tensor
  readonly statistics2: Tensor
  readonly raised: Tensor
  readonly active: Tensor
}

/** All buffers of a training step over `sequences` of `tokens`, made once and used by every step. */
export interface Activations {
  readonly sequences: number
  readonly tokens: number
  readonly words: Tensor
  readonly targets: Tensor
  readonly blocks: readonly BlockActivations[]
  readonly output: Tensor
  readonly normed: Tensor
  readonly statistics: Tensor
  readonly logits: Tensor
  readonly losses: Tensor
  /** Scratch: four times the width, and heads apart. */
  readonly wide: Tensor
  readonly narrow: Tensor
  readonly stream: Tensor
  readonly headsA: Tensor
  readonly headsB: Tensor
  readonly headsC: Tensor
  readonly scores: Tensor
  free(): void
}

export function createActivations(
  device: TensorDevice,
  { width, layers, heads, vocabulary }: ModelShape,
  sequences: number,
  tokens: number,
): Activations {
  const made: Tensor[] = []
  const make = (length: number): Tensor => {
    const tensor = device.allocate(length)
    made.push(tensor)
    return tensor
  }
  const rows = sequences * tokens
  const flat = () => make(rows * width)
  const square = () => make(sequences * heads * tokens * tokens)
  const block = (): BlockActivations => ({
    input: flat(),
    normed1: flat(),
    statistics1: make(2 * rows),
    queries: flat(),
    keys: flat(),
    values: flat(),
    probabilities: square(),
    attended: flat(),
    middle: flat(),
    normed2: flat(),
    statistics2: make(2 * rows),
    raised: make(4 * rows * width),
    active: make(4 * rows * width),
  })
  return {
    sequences,
    tokens,
    words: make(rows),
    targets: make(rows),
    blocks: Array.from({ length: layers }, block),
    output: flat(),
    normed: flat(),
    statistics: make(2 * rows),
    logits: make(rows * vocabulary),
    losses: make(rows),
    wide: make(4 * rows * width),
    narrow: flat(),
    stream: flat(),
    headsA: flat(),
    headsB: flat(),
    headsC: flat(),
    scores: square(),
    free: () => {
      for (const tensor of made.splice(0)) device.free(tensor)
    },
  }
}
