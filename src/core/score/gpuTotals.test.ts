import { expect, test } from 'vitest'
import { gpuTotals, type ScoredDevice } from './gpuTotals.ts'

const device = (more: Partial<ScoredDevice> = {}): ScoredDevice => ({
  rates: { bf16: 700, int8: 1000 },
  sustained: { precision: 'bf16', perSecond: 650 },
  memory: { heldBytes: 80, perSecond: 3000, floorBytes: 70, status: 'proven' },
  identity: { status: 'identified', model: 'h100-sxm' },
  ...more,
})

test('adds up what the devices proved', () => {
  expect(gpuTotals([device(), device({ rates: { bf16: 1 } })], 900)).toEqual({
    count: 2,
    model: 'h100-sxm',
    rates: { bf16: 701, int8: 1000 },
    sustained: { bf16: 1300 },
    memoryBytes: 160,
    bandwidth: 6000,
    scaling: 0.9,
  })
})

test('memory that is only held counts with its floor', () => {
  const held = { heldBytes: 80, perSecond: 1, floorBytes: 12, status: 'held' } as const
  expect(gpuTotals([device({ memory: held })], null)?.memoryBytes).toBe(12)
  expect(gpuTotals([device({ memory: { ...held, floorBytes: null } })], null)?.memoryBytes).toBe(0)
  expect(gpuTotals([device({ memory: null })], null)).toMatchObject({ memoryBytes: 0, bandwidth: 0, scaling: 1 })
})

test('cards of several models, or unknown ones, have no base score', () => {
  expect(gpuTotals([device(), device({ identity: { status: 'identified', model: 't4' } })], null)).not.toHaveProperty(
    'model',
  )
  expect(gpuTotals([device({ identity: { status: 'unknown', model: null } })], null)).not.toHaveProperty('model')
})

test('a CPU, or nothing, is no GPU', () => {
  expect(gpuTotals([device({ identity: { status: 'cpu', model: null } })], null)).toBeNull()
  expect(gpuTotals([], null)).toBeNull()
})
