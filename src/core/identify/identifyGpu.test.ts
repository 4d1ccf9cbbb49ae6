import { beforeAll, describe, expect, test } from 'vitest'
import { modelOf, shippedCatalogue } from '../../../test/sim/shippedCatalogue.ts'
import type { Precision } from '../params/precision.ts'
import { proven } from '../params/provenance.ts'
import type { Catalogue } from './catalogue.ts'
import { copyBandwidth, expectedRate } from './expected.ts'
import { identifyByRates } from './identifyByRates.ts'
import { identifyGpu } from './identifyGpu.ts'

let catalogue: Catalogue
beforeAll(async () => {
  catalogue = await shippedCatalogue()
})

/** §12, measured: n = k = 16384, proven rates of an H200, and the pass of §7. */
const H200 = proven({
  rates: { int8: 1102e12, fp8: 1203e12, fp16: 682e12, bf16: 703e12 },
  memoryBytes: 141.4e9,
  bandwidth: 4.31e12,
})

describe('identifyGpu', () => {
  test('names the H200 that the protocol was measured on', () => {
    const identity = identifyGpu(H200, catalogue)
    expect(identity.status).toBe('identified')
    expect(['h200-sxm', 'h200-nvl', 'gh200-144gb']).toContain(identity.model?.id)
    expect(identity.groupConfidence).toBeGreaterThan(0.95)
    expect(identity.closest).toHaveLength(3)
    expect(identity.restsOn).toEqual(['int8', 'fp8', 'fp16', 'bf16', 'memory', 'bandwidth'])
  })

  test('names it in the larger class too, where its int8 falls to 46 % of the datasheet', () => {
    const rates = proven({ int8: 909e12, fp8: 1249e12, fp16: 676e12, bf16: 689e12 })
    expect(identifyGpu({ ...H200, rates }, catalogue).model?.id).toBe('h200-sxm')
  })

  test('the same rates with the memory and bandwidth of an H100 are an H100', () => {
    const identity = identifyGpu(proven({ ...H200, memoryBytes: 80e9, bandwidth: 3.0e12 }), catalogue)
    expect(identity.model?.id).toBe('h100-sxm')
  })

  test('a CPU is never identified as a GPU, whatever it shows', () => {
    expect(identifyGpu({ ...H200, kind: 'cpu' }, catalogue)).toMatchObject({ status: 'cpu', model: null, closest: [] })
  })

  test('attack 372: what says it is a card, and is as fast as a slow one, is found to be that', () => {
    const serverProcessor = proven({ rates: { fp32: 3.6e12 }, memoryBytes: 12.4e9, bandwidth: 155e9 })
    expect(identifyGpu(serverProcessor, catalogue).model?.id).toBe('k80')
    expect(identifyGpu({ ...serverProcessor, kind: 'cpu' }, catalogue)).toMatchObject({ status: 'cpu', model: null })
  })

  test('what fits nothing is unknown, and still names the closest three', () => {
    const identity = identifyGpu(proven({ ...H200, memoryBytes: 10e9, bandwidth: 2e11 }), catalogue)
    expect(identity).toMatchObject({ status: 'unknown', model: null, groupConfidence: 0 })
    expect(identity.closest).toHaveLength(3)
  })

  test('memory a card does not have rules it out', () => {
    const identity = identifyGpu(proven({ memoryBytes: 90e9, rates: { bf16: 260e12 } }), catalogue)
    expect(identity.model?.id).not.toContain('a100')
  })

  test('an excess of up to 25 % in bf16 alone never infers a better card', () => {
    const a10g = modelOf(catalogue, 'a10g')
    const rates: Partial<Record<Precision, number>> = Object.fromEntries(
      (['int8', 'bf16', 'fp16', 'fp32'] as const).map((name) => [
        name,
        expectedRate(a10g, name, catalogue.rules)!.centre,
      ]),
    )
    const honest = { rates, memoryBytes: 0.93 * a10g.memoryBytes, bandwidth: copyBandwidth(a10g, catalogue.rules)! }
    expect(identifyGpu(proven(honest), catalogue).model?.id).toBe('a10g')
    const forged = { ...honest, rates: { ...rates, bf16: rates.bf16! * 1.25 } }
    expect(identifyGpu(proven(forged), catalogue).model?.id).toBe('a10g')
    expect(identifyGpu(proven({ rates: { bf16: rates.bf16! * 1.2 } }), catalogue).closest[0]!.confidence).toBeLessThan(
      0.5,
    )
  })

  test('integer units posing as bf16 on a consumer card do not hide the card', () => {
    const card = modelOf(catalogue, 'rtx-3090')
    const rate = (name: 'int8' | 'fp16' | 'fp32') => expectedRate(card, name, catalogue.rules)!.centre
    const rates = { int8: rate('int8'), bf16: rate('int8') / 2, fp16: rate('fp16'), fp32: rate('fp32') }
    const measured = { rates, memoryBytes: 0.94 * card.memoryBytes, bandwidth: copyBandwidth(card, catalogue.rules)! }
    expect(['rtx-3090', 'rtx-3090-ti']).toContain(identifyGpu(proven(measured), catalogue).model?.id)
  })

  test('a device that showed nothing is unknown, and nonsense is a fault of the caller', () => {
    for (const nothing of [{}, { rates: {} }, proven({ rates: { bf16: 0 }, memoryBytes: 0, bandwidth: 0 })])
      expect(identifyGpu(nothing, catalogue)).toMatchObject({ status: 'unknown', model: null, restsOn: [] })
    expect(identifyGpu(proven({ ...H200, rates: { ...H200.rates, fp32: 0 } }), catalogue).model?.id).toBe('h200-sxm')
    for (const nonsense of [Number.NaN, -1, Infinity])
      expect(() => identifyGpu(proven({ bandwidth: nonsense }), catalogue)).toThrow(RangeError)
  })
})

describe('identifyByRates', () => {
  test('of several candidates the highest bandwidth counts (§7)', () => {
    const { candidates, counted } = identifyByRates({ rates: H200.rates, catalogue })
    const ids = candidates.map((model) => model.id)
    expect(ids).toContain('h100-sxm')
    expect(ids).toContain('h200-sxm')
    const all = candidates.map((model) => copyBandwidth(model, catalogue.rules)!)
    expect(copyBandwidth(counted!, catalogue.rules)).toBe(Math.max(...all))
  })

  test('a claimed candidate counts where the caller names one, and a claim that the rates exclude does not', () => {
    const claimed = (...ids: readonly string[]) =>
      identifyByRates({ rates: H200.rates, catalogue, claimed: ids }).counted?.id
    expect(claimed('h100-sxm')).toBe('h100-sxm')
    expect(claimed('t4')).toBe(identifyByRates({ rates: H200.rates, catalogue }).counted?.id)
  })

  test('an unknown card, no rates and a CPU have no threshold', () => {
    expect(identifyByRates({ rates: proven({ int8: 1e12, fp32: 9e13 }), catalogue }).counted).toBeNull()
    expect(identifyByRates({ rates: {}, catalogue }).counted).toBeNull()
    expect(identifyByRates({ rates: H200.rates, kind: 'cpu', catalogue }).counted).toBeNull()
  })
})
