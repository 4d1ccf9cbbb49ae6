import { beforeAll, describe, expect, test } from 'vitest'
import { modelOf, shippedCatalogue } from '../../../test/sim/shippedCatalogue.ts'
import { PRECISION_NAMES } from '../params/precision.ts'
import type { Catalogue } from './catalogue.ts'
import { expectedRate } from './expected.ts'
import { gpuDepth, memoryClassFor, requiredClass, sizeClassFor, undersizedParts } from './sizeClass.ts'

let catalogue: Catalogue
beforeAll(async () => {
  catalogue = await shippedCatalogue()
})

describe('size classes (§4.0)', () => {
  test('the largest round under 200 ms', () => {
    const freeBytes = 100e9
    const exact = (2 * 2 ** 14 * 2 ** 14 * 32_768) / 0.2
    expect(sizeClassFor({ precision: 'bf16', rate: exact, freeBytes })).toBe(2 ** 14)
    expect(sizeClassFor({ precision: 'bf16', rate: exact * 0.999, freeBytes })).toBe(2 ** 13)
    expect(sizeClassFor({ precision: 'fp32', rate: exact, freeBytes })).toBe(2 ** 15)
  })

  test('operands and product must fit free memory', () => {
    const bytes = 2 * 2 ** 15 * 32_768 * 2 + 4 * 2 ** 30
    expect(sizeClassFor({ precision: 'bf16', rate: 1e16, freeBytes: bytes })).toBe(2 ** 15)
    expect(sizeClassFor({ precision: 'bf16', rate: 1e16, freeBytes: bytes - 1 })).toBe(2 ** 14)
  })

  test('never below 2^10 nor above 2^15, and k is never lowered', () => {
    expect(sizeClassFor({ precision: 'int8', rate: 1, freeBytes: 1 })).toBe(2 ** 10)
    expect(sizeClassFor({ precision: 'int8', rate: 1e20, freeBytes: 1e15 })).toBe(2 ** 15)
    expect([gpuDepth('int8'), gpuDepth('fp32')]).toEqual([32_768, 8192])
  })

  test('the memory part takes 3 % of the card', () => {
    expect(memoryClassFor(141 * 2 ** 30)).toBe(2 ** 14)
    expect(memoryClassFor(24 * 2 ** 30)).toBe(2 ** 12)
  })

  test('a faster run of the same card is never below its required class', () => {
    for (const model of catalogue.models)
      for (const precision of PRECISION_NAMES) {
        const expected = expectedRate(model, precision, catalogue.rules)
        if (expected === null) continue
        const ran = sizeClassFor({ precision, rate: expected.centre, freeBytes: 0.9 * model.memoryBytes })
        expect(undersizedParts(model, { [precision]: ran }, catalogue.rules)).toEqual([])
      }
  })

  test('an H200 that ran a smaller class is named (attack 27)', () => {
    const h200 = modelOf(catalogue, 'h200-sxm')
    const required = requiredClass(h200, 'bf16', catalogue.rules)!
    expect(required).toBeGreaterThanOrEqual(2 ** 14)
    expect(undersizedParts(h200, { bf16: required / 2, int8: 2 ** 15 }, catalogue.rules)).toEqual([
      { precision: 'bf16', ran: required / 2, required },
    ])
  })
})
