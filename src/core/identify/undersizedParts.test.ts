import { beforeAll, describe, expect, test } from 'vitest'
import { modelOf, shippedCatalogue } from '../../../test/sim/shippedCatalogue.ts'
import { PRECISION_NAMES } from '../params/precision.ts'
import { PRESETS } from '../params/presets.ts'
import { proven } from '../params/provenance.ts'
import { type PlanInputs, partKey } from '../proof/planPart.ts'
import { chooseSize, planSizing } from '../proof/planRun.ts'
import type { Catalogue, GpuModel } from './catalogue.ts'
import { expectedRate } from './expected.ts'
import { requiredClass, undersizedParts } from './undersizedParts.ts'

let catalogue: Catalogue
beforeAll(async () => {
  catalogue = await shippedCatalogue()
})

const planFor = (model: GpuModel, freeShare: number): PlanInputs => ({
  preset: PRESETS.mainnet,
  devices: [{ class: 'gpu', memoryBytes: model.memoryBytes, freeBytes: freeShare * model.memoryBytes }],
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
        expect(
          undersizedParts({ model, measured: { classes: { [part.precision]: ran } } }, [], catalogue.rules),
          `${model.id} ${ran}`,
        ).toEqual([])
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
    const measured = proven({ classes: { bf16: 2 ** 13, int8: 2 ** 15 } })
    expect(undersizedParts({ model: h200, measured }, [], catalogue.rules)).toEqual([
      { precision: 'bf16', ran: 2 ** 13, required: 2 ** 14 },
    ])
  })

  test('beside a slower card a fast one is asked for what that one reaches, and for no less', () => {
    const h200 = { model: modelOf(catalogue, 'h200-sxm'), measured: proven({ classes: { bf16: 2 ** 12 } }) }
    const small = { model: modelOf(catalogue, 'rtx-3060-12gb'), measured: {} }
    const lesser = { ...h200, measured: proven({ classes: { bf16: 2 ** 11 } }) }
    expect(undersizedParts(h200, [small], catalogue.rules)).toEqual([])
    expect(undersizedParts(lesser, [small], catalogue.rules)).toEqual([
      { precision: 'bf16', ran: 2 ** 11, required: 2 ** 12 },
    ])
    // A card nobody knows counts by what it showed; one that showed nothing lowers nothing.
    const rate = 2 * 2 ** 12 * 2 ** 12 * 2 ** 15 * 10
    const unknown = (memoryBytes?: number) => ({
      model: null,
      measured: proven({ rates: { bf16: rate }, ...(memoryBytes ? { memoryBytes } : {}) }),
    })
    expect(undersizedParts(h200, [unknown()], catalogue.rules)).toEqual([])
    expect(undersizedParts(lesser, [unknown()], catalogue.rules)).toHaveLength(1)
    expect(undersizedParts(lesser, [unknown(2 ** 29)], catalogue.rules)).toEqual([])
    expect(undersizedParts(h200, [{ model: null, measured: {} }], catalogue.rules)).toHaveLength(1)
    expect(undersizedParts({ ...h200, model: null }, [small], catalogue.rules)).toEqual([])
  })

  test('no honest card is undersized in any pair of cards', () => {
    const { rules } = catalogue
    for (const fast of catalogue.models)
      for (const slow of catalogue.models)
        for (const precision of PRECISION_NAMES) {
          const [one, two] = [requiredClass(fast, precision, rules), requiredClass(slow, precision, rules)]
          if (one === null || two === null) continue
          const measured = { classes: { [precision]: proven(Math.min(one, two)) } }
          expect(undersizedParts({ model: fast, measured }, [{ model: slow, measured }], rules)).toEqual([])
        }
  })
})
