import { describe, expect, test } from 'vitest'
import type { Precision } from '../params/precision.ts'
import type { Unit } from '../work/kind.ts'
import { WORK_KINDS } from '../work/workKinds.ts'
import { boundByClock } from './clockBound.ts'

/** A work of 10^12 credited operations, and what its box was proven to do. */
const bound = (
  elapsedUs: number | null,
  rates: Partial<Record<Precision, number>>,
  { prover = 'a', unit = 'int8', devices = 1 }: { prover?: string; unit?: Unit | null; devices?: number } = {},
) =>
  boundByClock(
    { prover: 'a', credited: 1e12, elapsedUs, unit },
    { prover, devices: Array.from({ length: devices }, () => ({ rates })) },
  )
const codes = (...given: Parameters<typeof bound>) => bound(...given).doubts.map(({ code }) => code)

describe('the clock against the proven speed', () => {
  test('attack 200: work that took a faster box than was proven is not shown to be its work', () => {
    expect(codes(1_000_000, { int8: 0.92e12 })).toEqual([])
    expect(codes(1_000_000, { int8: 0.9e12 })).toEqual(['FASTER_THAN_PROVEN'])
    expect(bound(2_000_000, { int8: 1e12 }).bound).toEqual({
      precision: 'int8',
      perSecond: 5e11,
      provenPerSecond: 1e12,
    })
  })

  test('a kind is bounded by its own products, and one that names none by the fastest', () => {
    const rates = { int8: 1e12, fp32: 1e9 }
    expect(codes(1_000_000, rates, { unit: 'fp32' })).toEqual(['FASTER_THAN_PROVEN'])
    expect(codes(1_000_000, rates, { unit: null })).toEqual([])
  })

  test('attack 434: paths of a picture are no operations, and no speed bounds them', () => {
    expect(codes(1000, { int8: 1e15, fp32: 80e12 }, { unit: 'paths' })).toEqual(['NO_SUCH_SPEED'])
    expect(WORK_KINDS.rendering!.unit).toBe('paths')
  })

  test('another box, another speed and no clock are no bound, and are said', () => {
    expect(codes(1, { int8: 1e15 }, { prover: 'b' })).toEqual(['CERTIFICATE_OF_ANOTHER_BOX'])
    expect(codes(1_000_000, { bf16: 1e15 })).toEqual(['NO_SUCH_SPEED'])
    expect(codes(null, { int8: 1e15 })).toEqual(['NO_CLOCK'])
  })

  test('attack 322: eight large cards, whose sum is beyond the end of a figure, bound work all the same', () => {
    const box = { unit: null, devices: 8 }
    // Of eight H100: 10.4 * 10^15 together.
    expect(codes(100, { int8: 1.3e15 }, box)).toEqual([])
    expect(codes(87, { int8: 1.3e15 }, box)).toEqual(['FASTER_THAN_PROVEN'])
    expect(bound(100, { int8: 1.3e15 }, box).bound).toMatchObject({ provenPerSecond: 10.4e15 })
  })

  test('attack 322: a device whose figure ends where numbers do bounds nothing, which is said', () => {
    expect(codes(1, { int8: Number.MAX_SAFE_INTEGER })).toEqual(['NO_SUCH_SPEED'])
    expect(codes(1, { int8: 1e12, fp8: Number.MAX_SAFE_INTEGER }, { unit: null })).toEqual(['NO_SUCH_SPEED'])
    expect(codes(1_000_000, { int8: 1e12, fp8: Number.MAX_SAFE_INTEGER })).toEqual([])
  })

  test('what one of the devices did not show is no speed of the box', () => {
    const devices = [{ rates: { int8: 1e15, fp32: 1e13 } }, { rates: { fp32: 1e13 } }]
    const work = { prover: 'a', credited: 1e12, elapsedUs: 1_000_000, unit: 'int8' } as const
    expect(boundByClock(work, { prover: 'a', devices }).doubts).toMatchObject([{ code: 'NO_SUCH_SPEED' }])
  })
})
