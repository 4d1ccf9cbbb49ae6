import { floatOf } from '../../core/work/ops/shapes.ts'
import type { WorkSpec } from '../../core/work/workSpec.ts'

/** Parameters that are floats by their bits, alone or in lists, in every kind. */
const FLOATS = new Set([
  ...['beta1', 'beta2', 'epsilon', 'decay', 'clip', 'momentum', 'rotaryBase'],
  ...['velocity', 'push', 'noise', 'zenith', 'horizon'],
])

const rounded = (value: number): number => Number(value.toPrecision(7))

interface Sampling {
  readonly factor: number
  readonly key: readonly [number, number] | null
}

/** Parameters whose numbers people know as others. */
const KNOWN_AS: Readonly<Record<string, (value: never) => readonly [string, unknown]>> = {
  rates: (rates: readonly (readonly [number, number])[]) => [
    'rates',
    rates.map(([at, bits]) => [at, rounded(floatOf(bits))]),
  ],
  omega: (bits: number) => ['viscosity', rounded((1 / floatOf(bits) - 0.5) / 3)],
  sampling: (sampling: Sampling | null) => ['sampling', sampling && chanceOf(sampling)],
}

const chanceOf = ({ factor, key }: Sampling) => ({
  ...{ temperature: rounded(1 / floatOf(factor)), seed: key ? key[0] + 2 ** 32 * key[1] : 'of the work' },
})

/** What was asked of a work, with numbers as people type them: all parameters of its specification. */
export function askedOf({ parameters }: Pick<WorkSpec, 'parameters'>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(parameters).map(([key, value]) =>
      Object.hasOwn(KNOWN_AS, key) ? KNOWN_AS[key]!(value as never) : [key, readable(key, value)],
    ),
  )
}

function readable(key: string, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((one) => readable(key, one))
  if (typeof value === 'object' && value !== null) return askedOf({ parameters: value as WorkSpec['parameters'] })
  return typeof value === 'number' && FLOATS.has(key) ? rounded(floatOf(value)) : value
}

const MOST_SHOWN = 16

/** The same in one line; of long lists the beginning. */
export const askedText = (asked: Readonly<Record<string, unknown>>): string => wordsOf('', asked).join(', ')

const wordsOf = (path: string, asked: object): string[] =>
  Object.entries(asked).flatMap(([key, value]) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? wordsOf(`${path}${key}.`, value)
      : [`${path}${key} ${Array.isArray(value) ? listText(value) : (value ?? 'none')}`],
  )

function listText(list: readonly unknown[]): string {
  const shown = list.slice(0, MOST_SHOWN).map((one) => (Array.isArray(one) ? one.join(':') : one))
  return [...shown, ...(list.length > shown.length ? ['…'] : [])].join(' ')
}
