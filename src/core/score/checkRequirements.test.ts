import { expect, test } from 'vitest'
import { type BoxFacts, checkRequirements } from './checkRequirements.ts'

const FACTS: BoxFacts = {
  gpuCount: 1,
  gpuMemoryBytes: 24e9,
  bf16OpsPerSec: 150e12,
  cpuWhetstoneMips: 50_000,
  ramBytes: 64e9,
  diskBytes: 500e9,
  diskBandwidth: 2e9,
  model: 'rtx-4090',
}

test('a box that has what is asked lacks nothing', () => {
  expect(checkRequirements(FACTS, {})).toEqual([])
  expect(checkRequirements(FACTS, { gpuCount: 1, ramBytes: 64e9, models: ['rtx-4090', 'h100-sxm'] })).toEqual([])
})

test('everything missing is named with what there is and what is needed', () => {
  const missing = checkRequirements(FACTS, {
    gpuCount: 2,
    ramBytes: 128e9,
    bf16OpsPerSec: 700e12,
    models: ['h100-sxm'],
  })
  expect(missing.map((one) => one.sentence)).toEqual([
    'GPUs: has 1, needs 2',
    'bf16 rate: has 150 Top/s, needs 700 Top/s',
    'RAM: has 64.0 GB, needs 128 GB',
    'GPU model: is rtx-4090, must be one of h100-sxm',
  ])
})

test('an unknown card fails a list of models, and a value that is no number fails its requirement', () => {
  expect(checkRequirements({ ...FACTS, model: null }, { models: ['h100-sxm'] })).toHaveLength(1)
  expect(checkRequirements({ ...FACTS, ramBytes: Number.NaN }, { ramBytes: 1 })).toHaveLength(1)
})
