import { beforeAll, describe, expect, test } from 'vitest'
import { modelOf, shippedCatalogue } from '../../../test/sim/shippedCatalogue.ts'
import { PRECISION_NAMES, type Precision } from '../params/precision.ts'
import { proven } from '../params/provenance.ts'
import type { Catalogue } from './catalogue.ts'
import { countCards, type DeviceTotals } from './countCards.ts'
import { expectedRate } from './expected.ts'

let catalogue: Catalogue
beforeAll(async () => {
  catalogue = await shippedCatalogue()
})

function honest(id: string): DeviceTotals {
  const model = modelOf(catalogue, id)
  const rates: Partial<Record<Precision, number>> = Object.fromEntries(
    PRECISION_NAMES.flatMap((name) => {
      const expected = expectedRate(model, name, catalogue.rules)
      return expected === null ? [] : [[name, expected.centre]]
    }),
  )
  return proven({ rates, memoryBytes: 0.93 * model.memoryBytes })
}
const several = (count: number, device: DeviceTotals) => Array.from({ length: count }, () => device)

describe('countCards (§1, attack 35)', () => {
  test('two B300 are established: no card of the catalogue has the speed of two', () => {
    expect(countCards(several(2, honest('b300')), catalogue)).toMatchObject({ claimed: 2, established: true })
  })

  test('attacks 112 and 402: eight B300 are claimed, however much memory they hold: their speeds may be those of five', () => {
    const count = countCards(several(8, honest('b300')), catalogue)
    expect(count).toMatchObject({ claimed: 8, least: 5, established: false })
    expect(count.sentence).toBe('count claimed; the totals need at least 5 cards')
    // Certificates of version 1 hold what its rules said.
    expect(countCards(several(8, honest('b300')), catalogue, 1).established).toBe(true)
  })

  test('eight H200 are claimed: a B300 has the speed of two', () => {
    const count = countCards(several(8, honest('h200-sxm')), catalogue)
    expect(count.established).toBe(false)
    expect(countCards(several(2, honest('h200-sxm')), catalogue, 1).established).toBe(false)
    expect(count.sentence).toBe('count claimed; the totals need at least 3 cards')
  })

  test('eight small cards are only claimed: one large card covers two of them', () => {
    const count = countCards(several(8, honest('rtx-3060-12gb')), catalogue)
    expect(count.established).toBe(false)
    expect(count.least).toBe(1)
    expect(count.sentence).toBe('count claimed; the totals need at least 1 card')
  })

  test('one part that no single card covers establishes the pair', () => {
    const fast = { rates: { ...honest('rtx-3060-12gb').rates, fp32: proven(80e12) } }
    expect(countCards(several(2, fast), catalogue)).toMatchObject({ least: 2, established: true })
  })

  test('one covered pair among many is enough to doubt the count', () => {
    const devices = [honest('b300'), honest('t4'), honest('b300'), honest('t4')]
    // By the rules of version 1 a covered pair was the only reason for a doubt.
    expect(countCards(devices, catalogue, 1).established).toBe(false)
    expect(countCards(devices, catalogue).established).toBe(false)
  })

  test('needing less than what was claimed never goes below one, nor above the claim', () => {
    expect(countCards([], catalogue)).toMatchObject({ claimed: 0, least: 0, established: false })
    expect(countCards([honest('t4')], catalogue)).toMatchObject({ claimed: 1, least: 1 })
    expect(countCards(several(2, proven({ rates: { bf16: 1e17 } })), catalogue).least).toBe(2)
    expect(countCards(several(32, honest('a100-sxm4-80gb')), catalogue).least).toBeLessThanOrEqual(32)
  })
})

describe('attack 117: a catalogue in which counting never ends', () => {
  test('of cards none of which beats another the search gives up, and nothing is established', () => {
    const [known] = catalogue.models
    const card = (memoryBytes: number, rate: number) => ({
      ...known!,
      memoryBytes,
      rates: { fp32: [{ value: rate, basis: 'measured' as const, source: 'run' }] },
    })
    const half = 200
    const models = [
      ...Array.from({ length: half }, (_, i) => card(1e10 + i, 1e9 + half - i)),
      ...Array.from({ length: half }, (_, i) => card(1e6 + i, 1e13 + half - i)),
    ]
    const device = proven({ rates: { fp32: 4e12 }, memoryBytes: 3.7e9 })
    const count = countCards(several(32, device), { ...catalogue, models })
    expect(count).toMatchObject({ claimed: 32, established: false })
    expect(count.least).toBeLessThan(32)
  })
})
