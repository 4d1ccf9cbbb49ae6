import { expect, test } from 'vitest'
import { seededUniform, simulateCard } from '../../../test/sim/gpuMeasurements.ts'
import { shippedCatalogue } from '../../../test/sim/shippedCatalogue.ts'
import type { Precision } from '../params/precision.ts'
import { proven } from '../params/provenance.ts'
import type { GpuModel } from './catalogue.ts'
import { expectedRate } from './expected.ts'
import { identifyGpu } from './identifyGpu.ts'

const exact = () => 1
const FORGED: readonly (readonly Precision[])[] = [['bf16'], ['fp8'], ['bf16', 'fp8']]

test('a card that forges up to 25 % more bf16 or fp8 work (§2) is still named as itself or a twin', async () => {
  const catalogue = await shippedCatalogue()
  const misled: string[] = []
  for (const model of catalogue.models)
    for (const forged of FORGED)
      for (const factor of [1.05, 1.14, 1.25]) {
        const honest = simulateCard(model, catalogue.rules, seededUniform(0), exact)
        const rates: Partial<Record<Precision, number>> = { ...honest.rates }
        for (const name of forged) if (rates[name] !== undefined) rates[name] *= factor
        const found = identifyGpu({ ...honest, rates: proven(rates) }, catalogue).model?.id
        if (found === undefined || ![model.id, ...model.twins].includes(found))
          misled.push(`${model.id} ${forged.join('+')} x ${factor}: ${found}`)
      }
  expect(misled).toEqual([])
})

test('from bf16 alone the slowest card is named that an excess of up to 25 % explains', async () => {
  const catalogue = await shippedCatalogue()
  const centre = (model: GpuModel) => expectedRate(model, 'bf16', catalogue.rules)?.centre ?? 0
  for (const rate of [30e12, 80e12, 170e12, 260e12, 700e12]) {
    const named = identifyGpu(proven({ rates: { bf16: rate } }), catalogue).model!
    const explaining = catalogue.models.filter((model) => centre(model) <= rate && rate <= 1.25 * centre(model))
    expect(explaining.length).toBeGreaterThan(0)
    expect(centre(named)).toBe(Math.min(...explaining.map(centre)))
  }
})
