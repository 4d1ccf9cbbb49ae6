import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import { shippedCatalogue } from '../../../test/sim/shippedCatalogue.ts'
import type { Catalogue, GpuModel } from '../identify/catalogue.ts'
import { expectedRate } from '../identify/expected.ts'
import { PRECISION_NAMES, type Precision } from '../params/precision.ts'
import { proven } from '../params/provenance.ts'
import { defaultScoreConfig } from './defaultScoreConfig.ts'
import { scoreBox } from './scoreBox.ts'
import type { ScoreConfig } from './scoreConfig.ts'

let catalogue: Catalogue
let config: ScoreConfig
beforeAll(async () => {
  catalogue = await shippedCatalogue()
  config = defaultScoreConfig(catalogue)
})

type Rates = Partial<Record<Precision, number>>
const ratesOf = (model: GpuModel): Rates =>
  Object.fromEntries(
    PRECISION_NAMES.flatMap((name) => {
      const expected = expectedRate(model, name, catalogue.rules)
      return expected ? [[name, expected.centre]] : []
    }),
  )

/** What a box offers, and how much it takes of the card, against the others, in each short slot and in the sustained one. */
const weight = fc.oneof(fc.constantFrom(0, 1), fc.double({ min: 0, max: 1, noNaN: true }))
const weights = fc.record({ int8: weight, fp8: weight, bf16: weight, fp16: weight, fp32: weight, sustained: weight })
const box = fc.record({ offered: fc.subarray([...PRECISION_NAMES], { minLength: 1 }), weights })
type Box = Parameters<Parameters<typeof box.map>[0]>[0]
type Slot = keyof Box['weights']

function shown(card: Rates, boxes: readonly Box[]) {
  const share = ({ weights }: Box, slot: Slot, all: readonly Box[]) =>
    weights[slot] / (all.reduce((sum, other) => sum + other.weights[slot], 0) || 1)
  return boxes.map((one) => {
    const offered = PRECISION_NAMES.filter((name) => one.offered.includes(name) && card[name] !== undefined)
    const rates = Object.fromEntries(
      offered.map((name) => {
        const beside = boxes.filter((other) => other.offered.includes(name))
        return [name, card[name]! * share(one, name, beside)]
      }),
    )
    const held = offered.includes('bf16') ? 'bf16' : offered[0]
    const sustained = held === undefined ? {} : { [held]: card[held]! * share(one, 'sustained', boxes) }
    return scoreBox({ outcome: 'passed', gpu: proven({ count: 1, rates, sustained, scaling: 1 }), ageMs: 0 }, config)
      .score
  })
}

test('attack 491: boxes that divide one card as they like, slot by slot, are paid no more than the card', () => {
  const all = [...PRECISION_NAMES]
  const alone = { int8: 1, fp8: 1, bf16: 1, fp16: 1, fp32: 1, sustained: 1 }
  fc.assert(
    fc.property(fc.nat(), fc.array(box, { minLength: 1, maxLength: 4 }), (choice, boxes) => {
      const card = ratesOf(catalogue.models[choice % catalogue.models.length]!)
      const [honest] = shown(card, [{ offered: all, weights: alone }])
      const together = shown(card, boxes).reduce((sum, score) => sum + score, 0)
      // A P40 gets 1.03 of its points where it offers fp32 alone; every other card loses by offering less.
      expect(together).toBeLessThanOrEqual(1.03 * honest! + boxes.length * all.length)
    }),
    { numRuns: 3000 },
  )
})
