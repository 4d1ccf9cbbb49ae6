import { expect, test } from 'vitest'
import { fact, inferred, proven } from '../params/provenance.ts'
import { checkRequirements } from './checkRequirements.ts'

const said = (value: number) => fact('claimed', value)
const gpu = {
  ...proven({ count: 1, memoryBytes: 24e9, rates: { bf16: 150e12 } }),
  model: inferred<string>('rtx-4090'),
}
const host = {
  cpuWhetstoneMips: said(50_000),
  ramBytes: said(64e9),
  diskBytes: said(500e9),
  diskBandwidth: said(2e9),
}
const FACTS = { gpu, host }

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

test('an unknown card fails a list of models, even by that name', () => {
  const { model: _, ...unknown } = gpu
  expect(checkRequirements({ host, gpu: unknown }, { models: ['h100-sxm', 'unknown'] })).toHaveLength(1)
})

test('attack 445: what is no fact, or no requirement, lets nobody join', () => {
  for (const value of [Number.NaN, Number.POSITIVE_INFINITY, -1, '1e99', null])
    expect(() => checkRequirements({ gpu, host: { ramBytes: said(value as number) } }, { ramBytes: 1 })).toThrow(
      RangeError,
    )
  const wrong = [{ gpuMemory: 80e9 }, { gpuMemoryBytes: null }, { gpuMemoryBytes: '80e9' }, { gpuMemoryBytes: -1 }]
  for (const requirements of [...wrong, { models: 'rtx-4090' }, { model: ['h100-sxm'] }, null, []])
    expect(() => checkRequirements(FACTS, requirements as object)).toThrow(RangeError)
})

test('a box that showed nothing lacks all that is asked', () => {
  const missing = checkRequirements({ gpu: null }, { gpuCount: 1, ramBytes: 1, models: ['h200-sxm'] })
  expect(missing.map(({ requirement }) => requirement)).toEqual(['gpuCount', 'ramBytes', 'models'])
})
