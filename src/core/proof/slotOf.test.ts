import fc from 'fast-check'
import { expect, test } from 'vitest'
import { PRECISION_NAMES } from '../params/precision.ts'
import { PRESETS } from '../params/presets.ts'
import { planRun } from './planRun.ts'
import { slotsOf } from './slotOf.ts'

const inputs = fc.record({
  preset: fc.constantFrom(...Object.values(PRESETS)),
  precisions: fc.subarray([...PRECISION_NAMES]),
  memory: fc.boolean(),
  bind: fc.boolean(),
  sustainedSeconds: fc.constantFrom(0, 20),
  devices: fc.array(fc.constant({ class: 'gpu' as const, memoryBytes: 2 ** 34, freeBytes: 2 ** 34 }), {
    minLength: 1,
    maxLength: 32,
  }),
})

test('attack 127: every phase of a plan has a later slot than the one before, and the same one whatever else is asked', () => {
  fc.assert(
    fc.property(inputs, (some) => {
      const plan = { ...some, openings: 8, partSeconds: 3, maxSize: 4096, roundTripSeconds: 0.01 }
      const parts = planRun(plan, () => 4096, new Map())
      const slots = parts.flatMap((_, p) => slotsOf(parts, p))
      for (const [p, slot] of slots.entries()) expect(slot).toBeGreaterThan(slots[p - 1] ?? -1)
      const sustained = some.sustainedSeconds > 0 && some.precisions.length > 0
      expect(slots.filter((slot) => slot < PRECISION_NAMES.length)).toHaveLength(some.precisions.length)
      expect(slots.includes(PRECISION_NAMES.length)).toBe(sustained)
      // Memory is filled in the next one, and read in the one after that.
      const [fill, passes] = [1, 2].map((after) => slots.includes(PRECISION_NAMES.length + after))
      expect([fill, passes]).toEqual([some.memory, some.memory])
    }),
  )
})
