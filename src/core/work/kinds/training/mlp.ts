import * as z from 'zod'
import {
  type LinearWeights,
  linear,
  linearBackward,
  type Quantised,
  quantised,
  type Rounding,
} from '../../model/layers.ts'
import type { ProgramBuilder } from '../../programBuilder.ts'
import type { TensorShape } from '../../tensor.ts'

/** Layers one after the other, each followed by relu but the last, which says how likely every class is. */
export const mlpSchema = z.strictObject({
  family: z.literal('mlp'),
  /** Numbers of a sample, then those of every layer; the last are the classes. */
  sizes: z.array(z.int().min(1).max(65_536)).min(2).max(64),
})

export type Mlp = z.infer<typeof mlpSchema>

const matrix = (rows: number, width: number): TensorShape => ({ type: 'f32', rows, width })

/** Names and shapes of the parameters, in file order. */
export const mlpParameters = ({ sizes }: Mlp): ReadonlyMap<string, TensorShape> =>
  new Map(
    sizes
      .slice(1)
      .flatMap((outputs, i) => [
        [`layers.${i}.weight`, matrix(outputs, sizes[i]!)] as const,
        [`layers.${i}.bias`, matrix(1, outputs)] as const,
      ]),
  )

interface Layer {
  readonly x: Quantised
  readonly weights: LinearWeights
  /** Before relu. */
  readonly y: string
}

/** Forward and back through the layers, for a batch of samples. */
export class MlpPass {
  readonly #p: ProgramBuilder
  readonly #layers: Layer[] = []

  constructor(p: ProgramBuilder) {
    this.#p = p
  }

  /** Logits of samples that lie by rows. */
  forward({ sizes }: Mlp, samples: string, rows: number): string {
    const p = this.#p
    let active = samples
    for (const [i, outputs] of sizes.slice(1).entries()) {
      const x = quantised(p, active, rows, sizes[i]!)
      const weight = quantised(p, `layers.${i}.weight`, outputs, sizes[i]!)
      const weights = { weight, bias: `layers.${i}.bias` }
      const isLast = i === sizes.length - 2
      const y = linear(p, x, weights, { isChoke: isLast })
      this.#layers.push({ x, weights, y })
      active = isLast ? y : p.step('relu', [y])
    }
    return active
  }

  /** Gradients by the names of the parameters, in any order. */
  backward(dLogits: string, rounding: Rounding): ReadonlyMap<string, string> {
    const p = this.#p
    const found = new Map<string, string>()
    let dy = dLogits
    for (let i = this.#layers.length - 1; i >= 0; i--) {
      const { x, weights } = this.#layers[i]!
      const isChoke = i === this.#layers.length - 1
      const gradients = linearBackward(
        p,
        rounding,
        { x, turnedX: p.step('transpose', [x.q]), weights, dy },
        { wantsX: i > 0, isChoke },
      )
      found.set(`layers.${i}.weight`, gradients.weight)
      found.set(`layers.${i}.bias`, gradients.bias!)
      if (i > 0) dy = p.step('reluBackward', [this.#layers[i - 1]!.y, gradients.x!])
    }
    return found
  }
}
