import { expect, test } from 'vitest'
import { inferred, proven } from '../params/provenance.ts'
import { gpuTotals, type ScoredDevice } from './gpuTotals.ts'

const card = (status: string, model: string | null) => ({ status, cards: model === null ? [] : [inferred(model)] })

const device = (more: Partial<ScoredDevice> = {}): ScoredDevice => ({
  ...proven({
    rates: { bf16: 700, int8: 1000 },
    sustained: { precision: 'bf16' as const, perSecond: 650 },
    memory: { heldBytes: 80, perSecond: 3000, status: 'proven' as const },
  }),
  identity: card('identified', 'h100-sxm'),
  ...more,
})

test('adds up what the devices proved', () => {
  expect(gpuTotals([device(), device({ rates: proven({ bf16: 1 }) })], proven(900))).toEqual({
    count: 2,
    rates: { bf16: 701, int8: 1000 },
    sustained: { bf16: 1300 },
    memoryBytes: 160,
    bandwidth: 6000,
    scaling: 0.9,
  })
})

test('attack 74: memory that is held but not proven counts for nothing, and neither does its speed', () => {
  const held = proven({ heldBytes: 80e9, perSecond: 3e12, floorBytes: 70e9, status: 'held' as const })
  const nothing = { memoryBytes: 0, bandwidth: 0 }
  expect(gpuTotals([device({ memory: held })], null)).toMatchObject(nothing)
  expect(gpuTotals([device({ memory: null })], null)).toMatchObject({ ...nothing, scaling: 1 })
  expect(gpuTotals([device(), device({ memory: held })], null)).toMatchObject({
    memoryBytes: 80,
    bandwidth: 3000,
  })
})

test('attack 454: no model is a total, likely as it may be: it is for who was sold and shown as one', () => {
  const mixed = [device(), device({ identity: card('identified', 't4') })]
  for (const devices of [mixed, [device()]]) expect(gpuTotals(devices, null)).not.toHaveProperty('model')
  expect(gpuTotals([device({ identity: card('unknown', null) })], null)).not.toHaveProperty('model')
})

test('a CPU, or nothing, is no GPU', () => {
  expect(gpuTotals([device({ identity: card('cpu', null) })], null)).toBeNull()
  expect(gpuTotals([], null)).toBeNull()
})
