import fc from 'fast-check'
import { expect, test } from 'vitest'
import { claimed } from './fact.ts'
import { hostClaims } from './hostClaims.ts'

const SAID = {
  cpuWhetstoneMips: 1,
  memoryLimitBytes: 2,
  ramBytesPerSec: 3,
  diskFreeBytes: 4,
  diskWriteBytesPerSec: 5,
}

test('row 73, property: whatever a box says of itself is a claim, and what is no size is left out', () => {
  const facts = { cpuWhetstoneMips: 1, ramBytes: 2, ramBandwidth: 3, diskBytes: 4, diskBandwidth: 5 }
  const all = Object.fromEntries(Object.entries(facts).map(([name, value]) => [name, claimed(value)]))
  expect(hostClaims({ ...SAID, registered: true, allocated: true, cpuHashing: 9 })).toEqual(all)
  const odd = fc.oneof(fc.string(), fc.boolean(), fc.constantFrom(0, -1, Number.NaN, Number.POSITIVE_INFINITY))
  fc.assert(
    fc.property(fc.constantFrom(...Object.keys(SAID)), odd, (name, value) => {
      const left = Object.values(facts).filter((fact) => fact !== SAID[name as keyof typeof SAID])
      expect(Object.values(hostClaims({ ...SAID, [name]: value }))).toEqual(left.map(claimed))
    }),
  )
})
