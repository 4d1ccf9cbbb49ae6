import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import { shippedCatalogue } from '../../../test/sim/shippedCatalogue.ts'
import { defaultScoreConfig } from './defaultScoreConfig.ts'
import { readScoreConfig, ScoreConfigError } from './readScoreConfig.ts'
import type { ScoreConfig } from './scoreConfig.ts'

let defaults: ScoreConfig
beforeAll(async () => {
  defaults = defaultScoreConfig(await shippedCatalogue())
})

test('an empty file is the defaults, and what it names is changed and nothing else', () => {
  expect(readScoreConfig({}, defaults)).toEqual(defaults)
  const weights = { gpu: 0.7, cpu: 0.1, ram: 0.1, disk: 0.1 }
  expect(readScoreConfig({ mode: 'normalize', weights, decay: { freshMs: 5 } }, defaults)).toEqual({
    ...defaults,
    mode: 'normalize',
    weights,
    decay: { ...defaults.decay, freshMs: 5 },
  })
})

test('a model the catalogue does not have may get a base score', () => {
  expect(readScoreConfig({ normalize: { scores: { 'my-card': 3 } } }, defaults).normalize.scores).toMatchObject({
    'my-card': 3,
  })
})

test.each([
  [{ wieghts: {} }, 'wieghts is not a known field'],
  [{ weights: { gpu: 0.9 } }, 'weights must add up to 1'],
  [{ weights: { gpu: -0.55 } }, 'weights.gpu must be a finite number'],
  [{ weights: 1 }, 'weights must be a mapping'],
  [{ precisions: { fp4: 1 } }, 'precisions.fp4 is not a known field'],
  [{ mode: 'fair' }, 'mode must be proven or normalize'],
  [{ decay: { halfLifeMs: 0 } }, 'decay.halfLifeMs must be above 0'],
  [
    { mode: 'normalize', precisions: { int8: 0, fp8: 0, bf16: 1, fp16: 0, fp32: 0 } },
    'normalize.scores must be given with precisions',
  ],
  [{ unsustainedShare: 2 }, 'unsustainedShare must be at most 1'],
  [[], 'the file must be a mapping'],
  [null, 'the file must be a mapping'],
])('%j is refused with the field named', (value, sentence) => {
  expect(() => readScoreConfig(value, defaults)).toThrow(`Score configuration: ${sentence}`)
})

test('whatever it is given, it answers with a configuration or with its own error', () => {
  fc.assert(
    fc.property(fc.anything(), (value) => {
      try {
        expect(readScoreConfig(value, defaults)).toHaveProperty('weights.gpu')
      } catch (error) {
        expect(error).toBeInstanceOf(ScoreConfigError)
      }
    }),
    { numRuns: 200 },
  )
})
