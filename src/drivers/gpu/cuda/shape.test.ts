import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { productMakers } from './product.ts'
import { FOLD, foldWidths } from './shape.ts'

describe('foldWidths', () => {
  test('multiplies to the count in steps a block can fold, whatever the power of two', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 24 }), (log) => {
        const widths = foldWidths(2 ** log)
        expect(widths.reduce((product, width) => product * width, 1)).toBe(2 ** log)
        expect(widths.length).toBeGreaterThan(0)
        for (const width of widths) expect(width).toBeLessThanOrEqual(FOLD)
      }),
    )
  })
})

describe('productMakers', () => {
  test.each([
    ['fp8', 80, true, []],
    ['fp8', 89, false, ['tensor']],
    ['bf16', 75, true, []],
    ['bf16', 90, true, ['cublasLt', 'tensor']],
    ['fp16', 70, true, ['cublasLt']],
    ['fp16', 60, true, []],
    ['int8', 61, false, ['plain']],
    ['int8', 75, true, ['cublasLt', 'tensor', 'plain']],
    ['fp32', 90, true, ['plain']],
  ] as const)('%s on capability %i, library %s: %j', (precision, capability, library, expected) => {
    expect(productMakers(precision, capability, library)).toEqual(expected)
  })
})
