import { beforeAll, describe, expect, test } from 'vitest'
import {
  inventCard,
  isMadeUp,
  mixCards,
  type Noise,
  seededUniform,
  simulateCard,
  within10Percent,
} from '../../../test/sim/gpuMeasurements.ts'
import { shippedCatalogue } from '../../../test/sim/shippedCatalogue.ts'
import type { Catalogue, GpuModel } from './catalogue.ts'
import { identifyGpu } from './identifyGpu.ts'

const DRAWS = 200

let catalogue: Catalogue
beforeAll(async () => {
  catalogue = await shippedCatalogue()
})

function shareRight(model: GpuModel, noise: Noise, seed: number): number {
  const uniform = seededUniform(seed)
  let right = 0
  for (let i = 0; i < DRAWS; i++) {
    const found = identifyGpu(simulateCard(model, catalogue.rules, uniform, noise), catalogue).model?.id
    if (found === model.id || (found !== undefined && model.twins.includes(found))) right++
  }
  return right / DRAWS
}

describe('identification of simulated measurements', () => {
  test('every model, each value within 10 % of the catalogue: itself or a stated twin in at least 99 %', () => {
    const poor = catalogue.models
      .map((model, i) => ({ id: model.id, share: shareRight(model, within10Percent, i) }))
      .filter(({ share }) => share < 0.99)
    expect(poor).toEqual([])
  })

  test('the generator can fail: a catalogue without the card does not find it', () => {
    const [card, ...others] = catalogue.models
    const without = { ...catalogue, models: others }
    const found = identifyGpu(simulateCard(card!, catalogue.rules, seededUniform(1), within10Percent), without)
    expect(found.model?.id).not.toBe(card!.id)
  })

  test('invented cards are unknown in at least 95 %', () => {
    const uniform = seededUniform(2)
    let unknown = 0
    for (let i = 0; i < 1000; i++) if (identifyGpu(inventCard(uniform), catalogue).status === 'unknown') unknown++
    expect(unknown / 1000).toBeGreaterThanOrEqual(0.95)
  })

  test('real rates with the memory and bandwidth of other cards, unlike any card, are unknown in at least 95 %', () => {
    const uniform = seededUniform(3)
    let unknown = 0
    let made = 0
    while (made < 1000) {
      const card = mixCards(catalogue, uniform, within10Percent)
      if (!isMadeUp(card, catalogue, 1.5)) continue
      made++
      if (identifyGpu(card, catalogue).status === 'unknown') unknown++
    }
    expect(unknown / made).toBeGreaterThanOrEqual(0.95)
  })
})
