import { expect, test } from 'vitest'
import { seededUniform, sigma10Percent, simulateCard, within10Percent } from '../../../test/sim/gpuMeasurements.ts'
import { shippedCatalogue } from '../../../test/sim/shippedCatalogue.ts'
import { identifyGpu } from './identifyGpu.ts'

const DRAWS = 3000

test.each([
  ['each value within 10 %', within10Percent, 0.99, 0.999],
  // A bell curve this wide puts one value in three off by more than 10 %: neighbours of one price class overlap.
  ['a standard deviation of 10 %', sigma10Percent, 0.8, 0.96],
])('%s, %#: itself or a stated twin', async (_, noise, leastPerModel, leastOverall) => {
  const catalogue = await shippedCatalogue()
  let total = 0
  const shares = catalogue.models.map((model, i) => {
    const uniform = seededUniform(1000 + i)
    let right = 0
    for (let draw = 0; draw < DRAWS; draw++) {
      const found = identifyGpu(simulateCard(model, catalogue.rules, uniform, noise), catalogue).model?.id
      if (found === model.id || (found !== undefined && model.twins.includes(found))) right++
    }
    total += right
    return { id: model.id, share: right / DRAWS }
  })
  const overall = total / (DRAWS * catalogue.models.length)
  const worst = shares.sort((a, b) => a.share - b.share)[0]!
  console.log(`${_}: overall ${overall.toFixed(4)}, worst ${worst.id} ${worst.share.toFixed(4)}`)
  expect(worst.share).toBeGreaterThanOrEqual(leastPerModel)
  expect(overall).toBeGreaterThanOrEqual(leastOverall)
})
