import { headSize } from '../../core/workload/modelShape.ts'
import type { Tensor } from '../../ports/tensorDevice.ts'
import { applyLinear } from './forward.ts'
import type { Replica } from './replica.ts'
import type { Block } from './weights.ts'

interface Buffers {
  readonly words: Tensor
  readonly stream: Tensor
  readonly normed: Tensor
  readonly statistics: Tensor
  readonly wide: Tensor
  readonly queries: Tensor
  readonly scores: Tensor
  readonly attended: Tensor
  readonly narrow: Tensor
  readonly last: Tensor
  readonly logits: Tensor
}

/** What every block remembers of the tokens so far: (sequence, head, context, size). */
interface Cache {
  readonly keys: Tensor
  readonly values: Tensor
}

/** Sequences that are being continued. `extend` takes the next tokens of each and gives the logits after the last one. */
export class Inference {
  readonly #replica: Replica
  readonly #sequences: number
  readonly #made: Tensor[] = []
  readonly #caches: readonly Cache[]
  readonly #buffers = new Map<number, Buffers>()
  #position = 0

  constructor(replica: Replica, sequences: number) {
    this.#replica = replica
    this.#sequences = sequences
    const { context, width, layers } = replica.shape
    const cache = () => this.#make(sequences * context * width)
    this.#caches = Array.from({ length: layers }, () => ({ keys: cache(), values: cache() }))
  }

  /** Tokens each sequence has so far. */
  get position(): number {
    return this.#position
  }

  /** `words` holds `tokens` for every sequence; together with those so far at most the model's context. */
  async extend(words: Int32Array, tokens: number): Promise<Float32Array> {
    const { device, shape, weights } = this.#replica
    const { width, vocabulary } = shape
    const made = this.#buffersFor(tokens)
    const batch = this.#sequences
    const rows = batch * tokens
    const start = this.#position
    const { stream, normed, statistics, last, logits } = made
    device.writeWords(made.words, words)
    const { tokens: table, positions } = weights
    device.embed({ words: made.words, table, positions, to: stream, batch, tokens, width, start })
    for (const [index, block] of weights.blocks.entries()) this.#block(block, this.#caches[index]!, made, tokens)
    device.norm({ ...weights.norm, from: stream, to: normed, statistics, rows, width })
    for (let one = 0; one < batch; one++) {
      const from = device.view(normed, (one * tokens + tokens - 1) * width, width)
      device.copy(device.view(last, one * width, width), from)
    }
    device.product({ c: logits, a: last, b: weights.head, m: batch, n: vocabulary, k: width })
    this.#position += tokens
    return await device.read(logits)
  }

  free(): void {
    for (const tensor of this.#made.splice(0)) this.#replica.device.free(tensor)
  }

  /** Scores go over the whole context, so that every step has the same shape; what lies ahead is masked. */
  #block(block: Block, { keys, values }: Cache, made: Buffers, tokens: number): void {
    const { device, shape } = this.#replica
    const { width, heads, context } = shape
    const { stream, normed: to, statistics, wide, queries, scores, attended, narrow } = made
    const size = headSize(shape)
    const rows = this.#sequences * tokens
    const batch = this.#sequences * heads
    const placing = { batch: this.#sequences, tokens, heads, size }
    device.norm({ ...block.norm1, from: stream, to, statistics, rows, width })
    applyLinear(device, block.attentionInput, wide, to, rows)
    const kept = { ...placing, way: 'split', joined: wide, parts: 3, capacity: context, start: this.#position } as const
    device.heads({ ...kept, split: queries, part: 0, capacity: tokens, start: 0 })
    device.heads({ ...kept, split: keys, part: 1 })
    device.heads({ ...kept, split: values, part: 2 })
    device.product({ c: scores, a: queries, b: keys, m: tokens, n: context, k: size, batch })
    const start = this.#position
    device.softmax({ scores, batch, rows: tokens, columns: context, start, scale: 1 / Math.sqrt(size) })
    device.product({ c: queries, a: scores, b: values, m: tokens, n: size, k: context, batch, bTransposed: true })
    device.heads({
      ...placing,
      way: 'join',
      joined: attended,
      split: queries,
      parts: 1,
      part: 0,
      capacity: tokens,
      start: 0,
    })
    applyLinear(device, block.attentionOutput, narrow, attended, rows)
    device.add(stream, narrow)
    device.norm({ ...block.norm2, from: stream, to, statistics, rows, width })
    applyLinear(device, block.up, wide, to, rows)
    device.gelu(wide, wide)
    applyLinear(device, block.down, narrow, wide, rows)
    device.add(stream, narrow)
  }

  #make(length: number): Tensor {
    const tensor = this.#replica.device.allocate(length)
    this.#made.push(tensor)
    return tensor
  }

  /** A prompt and single tokens need buffers of their own sizes; each is made once. */
  #buffersFor(tokens: number): Buffers {
    const known = this.#buffers.get(tokens)
    if (known) return known
    const { width, heads, context, vocabulary } = this.#replica.shape
    const rows = this.#sequences * tokens
    const flat = () => this.#make(rows * width)
    const buffers: Buffers = {
      words: this.#make(rows),
      stream: flat(),
      normed: flat(),
      statistics: this.#make(2 * rows),
      wide: this.#make(4 * rows * width),
      queries: flat(),
      scores: this.#make(this.#sequences * heads * tokens * context),
      attended: flat(),
      narrow: flat(),
      last: this.#make(this.#sequences * width),
      logits: this.#make(this.#sequences * vocabulary),
    }
    this.#buffers.set(tokens, buffers)
    return buffers
  }
}

/** The likeliest next word of every sequence. */
export function likeliest(logits: Float32Array, vocabulary: number): Int32Array {
  return Int32Array.from({ length: logits.length / vocabulary }, (_, sequence) => {
    const at = sequence * vocabulary
    let best = 0
    for (let word = 1; word < vocabulary; word++) if (logits[at + word]! > logits[at + best]!) best = word
    return best
  })
}
