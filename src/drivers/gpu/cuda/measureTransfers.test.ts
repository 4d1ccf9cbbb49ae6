import { describe, expect, test } from 'vitest'
import { FakeCuda, type FakeTrouble } from '../../../../test/support/fakeCuda.ts'
import { referenceEngine } from '../../../core/proof/referenceEngine.ts'
import { compareTransfers, measureTransfers } from './measureTransfers.ts'

const MIB = 2 ** 20
const fake = (trouble: FakeTrouble = {}) => new FakeCuda(new SharedArrayBuffer(80 * MIB), referenceEngine, trouble)

describe('measureTransfers', () => {
  test('measures both ways with a small share of what is free, and gives everything back', () => {
    const api = fake()
    // The fake card has 64 MiB and takes a millisecond for everything.
    expect(measureTransfers(api, 0n)).toEqual({
      hostToCardBytesPerSec: 1000 * MIB,
      cardToHostBytesPerSec: 1000 * MIB,
    })
    expect({ card: api.heldBytes, host: api.hostBuffers }).toEqual({ card: 0, host: 0 })
  })

  test.each([
    ['cuMemHostAlloc', 2, 'OUT_OF_MEMORY'],
    ['cuMemAlloc', 2, 'OUT_OF_MEMORY'],
    ['cuMemcpyAsync', 719, 'GPU_LOST'],
  ])('a %s that answers %i is said and fails nothing, and nothing stays held', (call, status, code) => {
    const api = fake({ failing: { [call]: status } })
    expect(measureTransfers(api, 0n)).toEqual({ transferRates: `not measured: ${code}` })
    expect({ card: api.heldBytes, host: api.hostBuffers }).toEqual({ card: 0, host: 0 })
  })

  test('a card that is nearly full is left alone', () => {
    const api = fake()
    api.allocate(60 * MIB)
    expect(measureTransfers(api, 0n)).toEqual({ transferRates: 'not measured: too little free memory' })
  })
})

describe('compareTransfers', () => {
  test('measures pinned and pageable memory both ways, and gives everything back', () => {
    const api = fake()
    const { pinned, pageable } = compareTransfers(api, 0n)
    expect(pinned).toEqual({ toCard: 1000 * MIB, toHost: 1000 * MIB })
    expect(pageable).toEqual({ toCard: expect.any(Number), toHost: expect.any(Number) })
    expect(Math.min(pageable.toCard, pageable.toHost)).toBeGreaterThan(0)
    expect({ card: api.heldBytes, host: api.hostBuffers }).toEqual({ card: 0, host: 0 })
  })

  test.each(['cuMemHostAlloc', 'cuMemAlloc', 'cuMemcpyAsync'])(
    'a %s that fails is a fault, and nothing stays held',
    (call) => {
      const api = fake({ failing: { [call]: 2 } })
      expect(() => compareTransfers(api, 0n)).toThrow(/OUT_OF_MEMORY|memory/)
      expect({ card: api.heldBytes, host: api.hostBuffers }).toEqual({ card: 0, host: 0 })
    },
  )
})
