import fc from 'fast-check'
import { expect, test } from 'vitest'
import { buckets } from './buckets.ts'

test('so many at once, then one after the other, each asker for itself', () => {
  const take = buckets({ atOnce: 2, perSecond: 4 })
  expect([take('a', 0), take('a', 0), take('a', 0)]).toEqual([0, 0, 0.25])
  expect(take('b', 0)).toBe(0)
  expect([take('a', 250_000), take('a', 250_000)]).toEqual([0, 0.25])
  expect([take('a', 9e6), take('a', 9e6), take('a', 9e6)]).toEqual([0, 0, 0.25])
})

test('however it is asked, an asker gets no more than the burst and what has refilled', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(100_000), { maxLength: 300 }), (gapsUs) => {
      const take = buckets({ atOnce: 5, perSecond: 10 })
      let [nowUs, got] = [0, 0]
      for (const gapUs of gapsUs) {
        nowUs += gapUs
        if (take('a', nowUs) === 0) got++
      }
      expect(got).toBeLessThanOrEqual(5 + (nowUs / 1e6) * 10 + 1e-6)
    }),
  )
})
