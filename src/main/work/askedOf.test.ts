import { expect, test } from 'vitest'
import { bitsOf } from '../../core/work/ops/shapes.ts'
import { askedOf, askedText } from './askedOf.ts'

const textOf = (parameters: object) => askedText(askedOf({ parameters: parameters as never }))

test('parameters are told as they were typed: floats are no bits, and none is left out', () => {
  const rates = [
    [0, bitsOf(0)],
    [3, bitsOf(0.9)],
  ]
  expect(textOf({ model: { family: 'gpt', heads: 2 }, optimiser: { beta1: bitsOf(0.9), rates }, done: 999 })).toBe(
    'model.family gpt, model.heads 2, optimiser.beta1 0.9, optimiser.rates 0:0 3:0.9, done 999',
  )
  const omega = bitsOf(1 / (3 * 0.02 + 0.5))
  expect(textOf({ cells: [16, 12, 4], omega, velocity: [bitsOf(0.08), 0, 0] })).toBe(
    'cells 16 12 4, viscosity 0.02, velocity 0.08 0 0',
  )
  expect(textOf({ samples: 4, zenith: [0.5, 0.7, 1].map(bitsOf) })).toBe('samples 4, zenith 0.5 0.7 1')
})

test('chance is told by its temperature and seed, and where there is none', () => {
  const sampled = (key: readonly number[] | null) => textOf({ sampling: { factor: bitsOf(1 / 100), key } })
  expect(sampled([5, 2])).toBe('sampling.temperature 100, sampling.seed 8589934597')
  expect(sampled(null)).toBe('sampling.temperature 100, sampling.seed of the work')
  expect(textOf({ sampling: null })).toBe('sampling none')
})

test('of a long list the beginning is told, and all of it to a script', () => {
  const lengths = Array.from({ length: 1024 }, (_, i) => i)
  expect(textOf({ lengths })).toMatch(/^lengths 0 1 .* 15 …$/)
  expect(askedOf({ parameters: { lengths } as never })).toEqual({ lengths })
})
