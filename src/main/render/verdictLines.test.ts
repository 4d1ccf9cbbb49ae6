import { expect, test } from 'vitest'
import { claimed } from '../../core/params/provenance.ts'
import { failedDevices, insecureLines } from './verdictLines.ts'

test('devices the verdict is not about are named in the words of the prover', () => {
  const faults = [{ code: 'GPU_LOST', text: 'card 1 (NVIDIA X): the card stopped working. Reset it.' }]
  const host = claimed({ gpuFaults: 'card 2 (NVIDIA X): GPU_BUSY' })
  expect(failedDevices({ faults, inventory: { host } })).toEqual([
    'as the box says: "card 1 (NVIDIA X): the card stopped working. Reset it. [GPU_LOST]"',
    'not opened, as the box says: "card 2 (NVIDIA X): GPU_BUSY"; open such a card alone, with --devices, to see what to do',
  ])
})

test('a box without a fault has none to name', () => {
  expect(failedDevices({ faults: [], inventory: { host: claimed({ cores: 4 }) } })).toEqual([])
})

test('a preset that is too small to judge a claim by says so, and only where there is one', () => {
  expect(insecureLines('tiny', false)).toEqual([expect.stringContaining('tiny is insecure')])
  expect(insecureLines('devnet', true)).toEqual([
    expect.stringContaining('devnet is insecure'),
    expect.stringContaining('do not buy on what it says'),
  ])
})
