import fc from 'fast-check'
import { expect, test } from 'vitest'
import { meanOf } from './boxes.ts'

const score = fc.bigInt({ min: 0n, max: 2n ** 40n })

test('what a validator says of a box moves towards what it saw, a quarter of the way, and gets there', () => {
  fc.assert(
    fc.property(score, score, (before, seen) => {
      const next = meanOf(before, seen)
      const [low, high] = before < seen ? [before, seen] : [seen, before]
      expect(next >= low && next <= high).toBe(true)
      let at = before
      for (let reports = 0; reports < 110; reports++) at = meanOf(at, seen)
      expect(at).toBe(seen)
    }),
  )
})
