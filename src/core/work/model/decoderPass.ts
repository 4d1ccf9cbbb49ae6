import type { ProgramBuilder } from '../programBuilder.ts'
import { type Attended, attend, attendBackward, type Heads } from './attention.ts'
import type { Decoder } from './decoder.ts'
import {
  type LinearWeights,
  linear,
  linearBackward,
  type Norm,
  type Normed,
  norm,
  normBackward,
  type Quantised,
  quantised,
  type Rounding,
  roundedByChance,
  TOKENS_PIECE,
} from './layers.ts'

/** How far a norm's root stays from 0: as the families have it. */
const EPSILON = { gpt: 1e-5, llama: 1e-5 } as const

/** What the way back needs of one layer. */
interface LayerTrail {
  readonly norm1: Normed
  readonly x1: Quantised
  readonly attended: Attended
  readonly x2: Quantised
  readonly norm2: Normed
  readonly x3: Quantised
  readonly gate: string | null
  readonly up: string
  readonly x4: Quantised
}

export interface Trail {
  readonly tokens: string
  readonly places: string
  readonly layers: readonly LayerTrail[]
  readonly final: Normed
  readonly last: Quantised
  readonly logits: string
}

/**
 * A decoder there and back as steps. The parameters are there under their names; matrices are quantised once for the whole
 * pass. Rows of tokens: sequence by sequence.
 */
export class DecoderPass {
  readonly #p: ProgramBuilder
  readonly #of: Decoder
  readonly #heads: Heads
  readonly #rows: number
  readonly #weights = new Map<string, Quantised>()
  readonly #turnedCopies = new Map<string, string>()
  #frequencies: string | null = null

  constructor(p: ProgramBuilder, of: Decoder, sequences: number, tokens: number) {
    const { heads, keyHeads, headSize } = of
    this.#p = p
    this.#of = of
    this.#heads = { sequences, tokens, heads, keyHeads, size: headSize }
    this.#rows = sequences * tokens
  }

  /** Logits of every token, and what the way back needs. */
  forward(tokens: string): Trail {
    const p = this.#p
    const { family, layers, width } = this.#of
    const places = p.step('places', [], { rows: this.#rows, width: 1, period: this.#heads.tokens })
    const learned = family === 'gpt' ? [places, 'positions'] : []
    let x = p.step('embed', [tokens, 'embed', ...learned], {}, { isChoke: true })
    const trails: LayerTrail[] = []
    for (let i = 0; i < layers; i++) {
      const { trail, out } = this.#layer(i, x, places)
      trails.push(trail)
      x = out
    }
    const final = norm(p, x, this.#norm('final'), { isChoke: true })
    const last = quantised(p, final.y, this.#rows, width)
    const logits = linear(p, last, this.#linear(this.#headName, false), { isChoke: true })
    return { tokens, places, layers: trails, final, last, logits }
  }

  #layer(i: number, x: string, places: string): { readonly trail: LayerTrail; readonly out: string } {
    const p = this.#p
    const { family, width, heads, headSize, hidden } = this.#of
    const at = (name: string) => `layers.${i}.${name}`
    const isGpt = family === 'gpt'
    const norm1 = norm(p, x, this.#norm(at('norm1')))
    const x1 = quantised(p, norm1.y, this.#rows, width)
    const made = (name: 'q' | 'k' | 'v') => linear(p, x1, this.#linear(at(name), isGpt || this.#of.hasQkvBias))
    const attended = attend(p, this.#heads, {
      q: this.#turned(made('q'), places, heads, false),
      k: this.#turned(made('k'), places, this.#of.keyHeads, false),
      v: made('v'),
    })
    const x2 = quantised(p, attended.out, this.#rows, heads * headSize)
    const middle = p.step('add', [x, linear(p, x2, this.#linear(at('o'), isGpt))])
    const norm2 = norm(p, middle, this.#norm(at('norm2')))
    const x3 = quantised(p, norm2.y, this.#rows, width)
    const gate = isGpt ? null : linear(p, x3, this.#linear(at('gate'), false))
    const up = linear(p, x3, this.#linear(at('up'), isGpt))
    const active = gate === null ? p.step('gelu', [up]) : p.step('siluProduct', [gate, up])
    const x4 = quantised(p, active, this.#rows, hidden)
    const out = p.step('add', [middle, linear(p, x4, this.#linear(at('down'), isGpt))])
    return { trail: { norm1, x1, attended, x2, norm2, x3, gate, up, x4 }, out }
  }

  /** Gradients by name of parameter, from that of the logits. */
  backward({ tokens, places, layers, final, last }: Trail, dLogits: string, rounding: Rounding): Map<string, string> {
    const p = this.#p
    const { family, vocabulary, context, isTied } = this.#of
    const gradients = new Map<string, string>()
    const weights = this.#linear(this.#headName, false)
    const head = linearBackward(
      p,
      rounding,
      { x: last, turnedX: this.#turnedBytes(last), weights, dy: dLogits },
      { isChoke: true },
    )
    if (!isTied) gradients.set('head.weight', head.weight)
    let dx = this.#normBackward(gradients, 'final', final, head.x!)
    for (const [i, trail] of [...layers.entries()].reverse())
      dx = this.#layerBackward(gradients, i, trail, dx, places, rounding)
    const turned = p.step('transpose', [dx])
    const byChannel = roundedByChance(p, rounding, turned, null, { piece: TOKENS_PIECE })
    const intoTable = (which: string, kinds: number) =>
      p.step('embedBackward', [which, byChannel.q, byChannel.scales], { kinds, piece: TOKENS_PIECE })
    const table = intoTable(tokens, vocabulary)
    gradients.set('embed', isTied ? p.step('add', [table, head.weight]) : table)
    if (family === 'gpt') gradients.set('positions', intoTable(places, context))
    return gradients
  }

  #layerBackward(
    gradients: Map<string, string>,
    i: number,
    { norm1, x1, attended, x2, norm2, x3, gate, up, x4 }: LayerTrail,
    dOut: string,
    places: string,
    rounding: Rounding,
  ): string {
    const p = this.#p
    const isGpt = this.#of.family === 'gpt'
    const at = (name: string) => `layers.${i}.${name}`
    const back = (name: string, x: Quantised, dy: string, hasBias: boolean) =>
      this.#linearBackward(gradients, at(name), x, dy, hasBias, rounding)
    const dActive = back('down', x4, dOut, isGpt)
    const dUp = p.step(gate === null ? 'geluBackward' : 'siluProductBackwardUp', [gate ?? up, dActive])
    let dNorm2 = back('up', x3, dUp, isGpt)
    if (gate !== null) {
      const dGate = p.step('siluProductBackwardGate', [gate, up, dActive])
      dNorm2 = p.step('add', [dNorm2, back('gate', x3, dGate, false)])
    }
    const dMiddle = p.step('add', [dOut, this.#normBackward(gradients, at('norm2'), norm2, dNorm2)])
    const dAttended = back('o', x2, dMiddle, isGpt)
    const d = attendBackward(p, rounding, this.#heads, attended, dAttended)
    const hasBias = isGpt || this.#of.hasQkvBias
    const parts = (['q', 'k', 'v'] as const).map((name) => {
      const dy = name === 'v' ? d.v : this.#turned(d[name], places, this.#heads.heads, true)
      return back(name, x1, dy, hasBias)
    })
    const dNorm1 = p.step('add', [p.step('add', [parts[0]!, parts[1]!]), parts[2]!])
    return p.step('add', [dMiddle, this.#normBackward(gradients, at('norm1'), norm1, dNorm1)])
  }

  #linearBackward(
    gradients: Map<string, string>,
    name: string,
    x: Quantised,
    dy: string,
    hasBias: boolean,
    rounding: Rounding,
  ): string {
    const weights = this.#linear(name, hasBias)
    const d = linearBackward(this.#p, rounding, { x, turnedX: this.#turnedBytes(x), weights, dy })
    gradients.set(`${name}.weight`, d.weight)
    if (d.bias) gradients.set(`${name}.bias`, d.bias)
    return d.x!
  }

  /** Queries, keys and values come from the same rows. */
  #turnedBytes({ q }: Quantised): string {
    const turned = this.#turnedCopies.get(q) ?? this.#p.step('transpose', [q])
    this.#turnedCopies.set(q, turned)
    return turned
  }

  #normBackward(gradients: Map<string, string>, name: string, trail: Normed, dy: string): string {
    const d = normBackward(this.#p, trail, this.#norm(name), dy, this.#of.width)
    gradients.set(`${name}.gain`, d.gain)
    if (d.shift) gradients.set(`${name}.shift`, d.shift)
    return d.x
  }

  get #headName(): string {
    return this.#of.isTied ? 'embed' : 'head'
  }

  #norm(name: string): Norm {
    const isGpt = this.#of.family === 'gpt'
    return { gain: `${name}.gain`, shift: isGpt ? `${name}.shift` : null, epsilon: EPSILON[this.#of.family] }
  }

  /** A matrix is quantised where it is first used. */
  #linear(name: string, hasBias: boolean): LinearWeights {
    const known = this.#weights.get(name)
    const full = name === 'embed' ? name : `${name}.weight`
    const { rows, width } = this.#p.shapeOf(full)
    const weight = known ?? quantised(this.#p, full, rows, width)
    this.#weights.set(name, weight)
    return { weight, bias: hasBias ? `${name}.bias` : null }
  }

  /** Llama turns rows of queries and keys by their places. */
  #turned(x: string, places: string, heads: number, isBack: boolean): string {
    if (this.#of.family === 'gpt') return x
    const half = this.#of.headSize / 2
    this.#frequencies ??= this.#p.step('frequencies', [], { rows: 1, width: half, half, base: this.#of.rotaryBase })
    return this.#p.step('rotary', [x, places, this.#frequencies], { heads, inverse: isBack ? 1 : 0 })
  }
}
