import * as z from 'zod'
import { bitsOf, floatOf } from '../../ops/shapes.ts'
import type { ProgramBuilder } from '../../programBuilder.ts'

/** A float as its bits: finite, and not below 0. */
const float = z.int().min(0).max(0x7f7fffff)

const shared = {
  /** W2.9.5. The learning rate: bits at transitions, linear between them, constant after the last. */
  rates: z
    .array(z.tuple([z.int().min(0).max(10_000_000), float]))
    .min(1)
    .max(1000)
    .refine((rates) => rates.every(([at], i) => i === 0 || at > rates[i - 1]![0])),
  /** Gradients are clipped: without it, moments could be made to swallow them. */
  clip: float.min(1),
}

export const optimiserSchema = z.discriminatedUnion('name', [
  z.strictObject({ name: z.literal('adamW'), beta1: float, beta2: float, epsilon: float, decay: float, ...shared }),
  z.strictObject({ name: z.literal('sgd'), momentum: float, ...shared }),
])

export type Optimiser = z.infer<typeof optimiserSchema>

/** Moments that each parameter has beside it. */
export const momentsOf = ({ name }: Optimiser): readonly string[] => (name === 'adamW' ? ['m', 'v'] : ['v'])

/** W2.9.5. As bits, in floats all the way. */
export function rateAt({ rates }: Pick<Optimiser, 'rates'>, transition: number): number {
  const next = rates.findIndex(([at]) => at >= transition)
  if (next === 0) return rates[0]![1]
  if (next < 0) return rates.at(-1)![1]
  const [from, to] = [rates[next - 1]!, rates[next]!]
  const share = Math.fround(Math.fround(transition - from[0]) / Math.fround(to[0] - from[0]))
  const [low, high] = [floatOf(from[1]), floatOf(to[1])]
  return bitsOf(Math.fround(low + Math.fround(share * Math.fround(high - low))))
}

/** 1 - beta^t, the power by repeated multiplication. */
function correction(beta: number, transition: number): number {
  let power = 1
  for (let i = 0; i < transition && power > 0; i++) power = Math.fround(power * beta)
  return bitsOf(Math.fround(1 - power))
}

const correctionsAt = ({ beta1, beta2 }: Extract<Optimiser, { readonly name: 'adamW' }>, transition: number) => ({
  correction1: correction(floatOf(beta1), transition),
  correction2: correction(floatOf(beta2), transition),
})

/** From gradients to the next parameters and moments, parameter by parameter; and the norm. */
export function optimise(
  p: ProgramBuilder,
  optimiser: Optimiser,
  transition: number,
  gradients: ReadonlyMap<string, string>,
  /** Of a parameter, the share of rows that may have changed. */
  touched: (name: string) => number = () => 1,
): { readonly norm: string; readonly after: ReadonlyMap<string, string> } {
  const of = <T>(name: string, write: () => T): T => p.needed({ always: touched(name), asked: 0 }, write)
  const squares = [...gradients].map(([name, g]) => of(name, () => p.step('rowSum', [p.step('squareSums', [g])])))
  const norm = p.step('gradientNorm', squares, {}, { isChoke: true })
  const clip = p.step('clipFactor', [norm], { clip: optimiser.clip }, { isChoke: true })
  const rate = rateAt(optimiser, transition)
  // Once for all parameters: late in a long training it takes millions of products.
  const corrections = optimiser.name === 'sgd' ? {} : correctionsAt(optimiser, transition)
  const after = new Map<string, string>()
  const update = (name: string, g: string): void => {
    if (optimiser.name === 'sgd') {
      const v = p.step('sgdVelocity', [`${name}/v`, g, clip], { momentum: optimiser.momentum })
      after.set(name, p.step('sgdWeight', [name, v], { rate }))
      after.set(`${name}/v`, v)
      return
    }
    const { beta1, beta2, epsilon, decay } = optimiser
    const m = p.step('adamWFirst', [`${name}/m`, g, clip], { beta1 })
    const v = p.step('adamWSecond', [`${name}/v`, g, clip], { beta2 })
    after.set(name, p.step('adamWWeight', [name, m, v], { rate, epsilon, decay, ...corrections }))
    after.set(`${name}/m`, m)
    after.set(`${name}/v`, v)
  }
  for (const [name, g] of gradients) of(name, () => update(name, g))
  return { norm, after }
}
