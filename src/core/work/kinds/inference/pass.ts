import { attend, type Heads } from '../../model/attention.ts'
import { norm, type Quantised, quantised } from '../../model/layers.ts'
import { floatOf } from '../../ops/shapes.ts'
import type { Needed } from '../../program.ts'
import type { ProgramBuilder } from '../../programBuilder.ts'
import { attendCache, type Cache, cacheOf, remember } from './cache.ts'
import { layerMatrices, type Model } from './weights.ts'

/** Tokens that go through a model together: `tokens` of each sequence, the first of them at `place`. */
export interface Span {
  readonly sequences: number
  readonly tokens: number
  readonly place: number
}

/** W4.5. Of every sequence whose next token is asked for; the prompts of the others go on. */
export const ASKED: Needed = { always: 0, asked: 1 }

/** W9.3. A decoder from tokens to logits as steps; the caches after it are in `caches`, layer by layer. */
export class InferencePass {
  readonly #p: ProgramBuilder
  readonly #of: Model
  readonly #heads: Heads
  readonly #place: number
  readonly #rows: number
  readonly #biases: ReadonlySet<string>
  readonly #positions: string
  readonly #frequencies: string | null
  readonly caches: Cache[] = []

  constructor(p: ProgramBuilder, of: Model, { sequences, tokens, place }: Span) {
    const { layers, heads, keyHeads, headSize, family, rotaryBase } = of
    const rows = sequences * tokens
    this.#p = p
    this.#of = of
    this.#heads = { sequences, tokens, heads, keyHeads, size: headSize }
    this.#place = place
    this.#rows = rows
    const matrices = Array.from({ length: layers }, (_, i) => layerMatrices(of, i)).flat()
    this.#biases = new Set(matrices.filter(({ hasBias }) => hasBias).map(({ name }) => name))
    this.#positions =
      tokens === 1
        ? p.step('fillWords', [], { rows, width: 1, value: place })
        : p.step('places', [], { rows, width: 1, period: tokens })
    const half = headSize / 2
    this.#frequencies =
      family === 'gpt' ? null : p.step('frequencies', [], { rows: 1, width: half, half, base: rotaryBase })
  }

  /** Logits of what comes after the last token of each sequence. */
  logits(tokens: string): string {
    const { sequences, tokens: period } = this.#heads
    const x = this.#through(tokens, { ...ASKED, asked: 1 / period })
    const last = period === 1 ? x : this.#p.step('lastOfEach', [x], { period })
    return this.#p.needed(ASKED, () => this.#head(last, sequences))
  }

  /** Logits of what comes after every token. */
  everyLogits(tokens: string): string {
    return this.#head(this.#through(tokens, null), this.#rows)
  }

  /** Of the rows that come out of it not all may be needed; of the last layer all of its keys and values are. */
  #through(tokens: string, needed: Needed | null): string {
    const { family, layers } = this.#of
    const learned = family === 'gpt' ? [this.#positions, 'positions'] : []
    let x = this.#p.step('embed', [tokens, 'embed', ...learned], {}, { isChoke: true })
    for (let i = 0; i < layers; i++) x = this.#layer(i, x, i === layers - 1 ? needed : null)
    return x
  }

  #head(x: string, rows: number): string {
    return this.#linear('head', quantised(this.#p, this.#norm('final', x, true), rows, this.#of.width), true)
  }

  #layer(i: number, x: string, needed: Needed | null): string {
    const p = this.#p
    const { family, width, heads, keyHeads, headSize, hidden } = this.#of
    const rows = this.#rows
    const x1 = quantised(p, this.#norm(`${i}.norm1`, x), rows, width)
    const all = heads + 2 * keyHeads
    const ofQkv = needed && { always: (2 * keyHeads) / all, asked: (heads * needed.asked) / all }
    const qkv = p.needed(ofQkv, () => this.#linear(`${i}.qkv`, x1))
    const attended = this.#attend(i, qkv, needed)
    return p.needed(needed, () => {
      const x2 = quantised(p, attended, rows, heads * headSize)
      const middle = p.step('add', [x, this.#linear(`${i}.o`, x2)])
      const x3 = quantised(p, this.#norm(`${i}.norm2`, middle), rows, width)
      const gate = family === 'gpt' ? null : this.#linear(`${i}.gate`, x3)
      const up = this.#linear(`${i}.up`, x3)
      const active = gate === null ? p.step('gelu', [up]) : p.step('siluProduct', [gate, up])
      return p.step('add', [middle, this.#linear(`${i}.down`, quantised(p, active, rows, hidden))])
    })
  }

  /** From q, k and v side by side to what is attended to, by way of the cache. */
  #attend(i: number, qkv: string, needed: Needed | null): string {
    const p = this.#p
    const { heads, keyHeads, size, sequences, tokens } = this.#heads
    const cut = (head: number, count: number) =>
      p.step('cut', [qkv], { column: head * size, columns: count * size, width: count * size })
    const parts = {
      q: p.needed(needed, () => this.#turned(cut(0, heads), heads)),
      k: this.#turned(cut(heads, keyHeads), keyHeads),
      v: cut(heads + keyHeads, keyHeads),
    }
    const before = cacheOf(i)
    if (tokens > 1) {
      const { out, k, v } = attend(p, this.#heads, parts, needed)
      this.caches.push(remember(p, before, k, v, this.#place))
      return out
    }
    const rowsOf = (x: string, count: number): Quantised =>
      quantised(p, p.step('reshape', [x], { width: size }), sequences * count, size)
    const q = p.needed(needed, () => rowsOf(parts.q, heads))
    const [k, v] = [rowsOf(parts.k, keyHeads), rowsOf(parts.v, keyHeads)]
    const cache = remember(p, before, k, v, this.#place)
    this.caches.push(cache)
    return p.needed(needed, () => attendCache(p, this.#heads, q, cache, this.#place + 1))
  }

  /** Llama turns queries and keys by their places. */
  #turned(x: string, heads: number): string {
    if (this.#frequencies === null) return x
    return this.#p.step('rotary', [x, this.#positions, this.#frequencies], { heads, inverse: 0 })
  }

  #norm(name: string, x: string, isChoke = false): string {
    const shift = this.#of.family === 'gpt' ? `${name}.shift` : null
    const said = { gain: `${name}.gain`, shift, epsilon: floatOf(this.#of.epsilon) }
    return norm(this.#p, x, said, { isChoke }).y
  }

  #linear(name: string, x: Quantised, isChoke = false): string {
    const sums = this.#p.step('product', [x.q, `${name}.weight`], {}, { isChoke })
    const bias = this.#biases.has(name) ? [`${name}.bias`] : []
    const numbers = { hasColumns: 1, ...(bias.length > 0 ? { hasBias: 1 } : {}) }
    return this.#p.step('dequantise', [sums, x.scales, `${name}.scales`, ...bias], numbers)
  }
}
