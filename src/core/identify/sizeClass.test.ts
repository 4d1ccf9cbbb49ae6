import { beforeAll, describe, expect, test } from 'vitest'
import { modelOf, shippedCatalogue } from '../../../test/sim/shippedCatalogue.ts'
import { PRECISION_NAMES } from '../params/precision.ts'
import { PRESETS } from '../params/presets.ts'
import { chooseSize, type PlanInputs, partKey, planSizing } from '../proof/planRun.ts'
import type { Catalogue, GpuModel } from './catalogue.ts'
import { expectedRate } from './expected.ts'
import { requiredClass, undersizedParts } from './sizeClass.ts'

let catalogue: Catalogue
beforeAll(async () => {
  catalogue = await shippedCatalogue()
})

const planFor = (model: GpuModel, freeShare: number): PlanInputs => ({
  preset: PRESETS.mainnet,
  devices: [{ kind: 'cuda', memoryBytes: model.memoryBytes, freeBytes: freeShare * model.memoryBytes }],
  precisions: PRECISION_NAMES,
  memory: false,
  bind: false,
  openings: 128,
  partSeconds: 3,
  sustainedSeconds: 0,
  maxSize: 2 ** 15,
  roundTripSeconds: 0.01,
})

describe('size classes (§4.0)', () => {
  test('no honest card is undersized, though its calibration reads a third too slow and a tenth of its memory is in use', () => {
    for (const model of catalogue.models) {
      const inputs = planFor(model, 0.9)
      const sizing = planSizing(inputs)
      for (const part of sizing) {
        const expected = expectedRate(model, part.precision, catalogue.rules)
        if (expected === null) continue
        const seconds = (2 * part.m * part.n * part.k) / (expected.centre / 1.5)
        const timings = new Map([[partKey(part), { fastest: seconds, slowest: seconds }]])
        const ran = chooseSize(inputs, part.precision, sizing, timings)
        expect(undersizedParts(model, { [part.precision]: ran }, catalogue.rules), `${model.id} ${ran}`).toEqual([])
      }
    }
  })

  test('the class grows with the card', () => {
    const of = (id: string) => requiredClass(modelOf(catalogue, id), 'bf16', catalogue.rules)
    expect([of('h200-sxm'), of('rtx-4090'), of('rtx-3060-12gb')]).toEqual([2 ** 14, 2 ** 13, 2 ** 12])
    expect(requiredClass(modelOf(catalogue, 'k80'), 'bf16', catalogue.rules)).toBeNull()
  })

  test('an H200 that ran a smaller class is named (attack 27)', () => {
    const h200 = modelOf(catalogue, 'h200-sxm')
    expect(undersizedParts(h200, { bf16: 2 ** 13, int8: 2 ** 15 }, catalogue.rules)).toEqual([
      { precision: 'bf16', ran: 2 ** 13, required: 2 ** 14 },
    ])
  })
})
