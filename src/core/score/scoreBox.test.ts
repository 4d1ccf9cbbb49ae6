import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { shippedCatalogue } from '../../../test/sim/shippedCatalogue.ts'
import { PRECISION_NAMES } from '../params/precision.ts'
import { claimed, type Fact, fact, inferred, proven } from '../params/provenance.ts'
import { defaultScoreConfig } from './defaultScoreConfig.ts'
import { type BoxScoreInput, type GpuScoreInput, type HostScoreInput, scoreBox } from './scoreBox.ts'
import { FULL_SCORE, type ScoreConfig } from './scoreConfig.ts'
import { shareAtAge } from './shareAtAge.ts'

let config: ScoreConfig
beforeAll(async () => {
  config = defaultScoreConfig(await shippedCatalogue())
})

const amount = (max: number) => fc.double({ min: 0, max, noNaN: true, noDefaultInfinity: true })
const rate = amount(4e16)
const rates = fc.record({ int8: rate, fp8: rate, bf16: rate, fp16: rate, fp32: rate }, { requiredKeys: [] })
const gpus = fc.record(
  {
    count: fc.integer({ min: 1, max: 32 }),
    rates,
    sustained: rates,
    memoryBytes: amount(4e12),
    bandwidth: amount(1e14),
    scaling: amount(1.2),
    model: fc
      .constantFrom('h100-sxm', 'b200', 'rtx-4090', 'no-such-card', '__proto__')
      .map((id) => inferred<string>(id)),
  },
  { requiredKeys: ['count'] },
)
const LARGEST = {
  cpuLookups: 1e12,
  cpuWhetstoneMips: 1e6,
  ramBytes: 1e13,
  ramBandwidth: 1e12,
  diskBytes: 1e14,
  diskBandwidth: 1e11,
}
const hostsOf = (...sources: Fact['source'][]): fc.Arbitrary<HostScoreInput> => {
  const facts = (max: number) => fc.tuple(fc.constantFrom(...sources), amount(max)).map((given) => fact(...given))
  const fields = Object.entries(LARGEST).map(([name, max]) => [name, facts(max)])
  return fc.record(Object.fromEntries(fields), { requiredKeys: [] })
}
const unproven = hostsOf('measured', 'claimed')
const boxes: fc.Arbitrary<BoxScoreInput & { gpu: GpuScoreInput }> = fc.record(
  {
    outcome: fc.constant('passed' as const),
    gpu: gpus.map(({ model, ...totals }) => ({ ...proven(totals), ...(model ? { model } : {}) })),
    host: hostsOf('proven', 'measured', 'claimed'),
    registered: fc.boolean(),
    allocated: fc.boolean(),
    ageMs: amount(1e9),
  },
  { requiredKeys: ['outcome', 'gpu', 'ageMs'] },
)
const modes = fc.constantFrom('proven' as const, 'normalize' as const)

describe('scoreBox', () => {
  test('its terms add up to it exactly, in any order, and it is a whole number from 0 up', () => {
    fc.assert(
      fc.property(boxes, modes, (box, mode) => {
        const { score, terms } = scoreBox(box, { ...config, mode })
        expect(terms.reduce((sum, term) => sum + term.points, 0)).toBe(score)
        expect(terms.reduceRight((sum, term) => sum + term.points, 0)).toBe(score)
        expect(Number.isSafeInteger(score) && score >= 0).toBe(true)
      }),
      { numRuns: 300 },
    )
  })

  test('it never falls when a proven rate, memory, bandwidth or scaling rises', () => {
    const fields = fc.constantFrom('memoryBytes' as const, 'bandwidth' as const, 'scaling' as const)
    fc.assert(
      fc.property(
        boxes,
        modes,
        fc.constantFrom(...PRECISION_NAMES),
        fields,
        fc.double({ min: 1, max: 10, noNaN: true }),
        (box, mode, name, field, factor) => {
          const settings = { ...config, mode }
          const before = scoreBox(box, settings).score
          const raise = (gpu: Partial<GpuScoreInput>) =>
            scoreBox({ ...box, gpu: { ...box.gpu, ...gpu } }, settings).score
          const old = box.gpu.rates?.[name]
          if (old !== undefined)
            expect(raise({ rates: { ...box.gpu.rates, [name]: old * factor } })).toBeGreaterThanOrEqual(before)
          const held = box.gpu.sustained?.[name]
          if (held !== undefined)
            expect(raise({ sustained: { ...box.gpu.sustained, [name]: held * factor } })).toBeGreaterThanOrEqual(before)
          const value = box.gpu[field]
          const most = field === 'scaling' ? 2 : Number.POSITIVE_INFINITY
          if (value !== undefined)
            expect(raise({ [field]: Math.min(most, value * factor) })).toBeGreaterThanOrEqual(before)
        },
      ),
      { numRuns: 300 },
    )
  })

  test('it never falls when a proven fact of the host rises', () => {
    const names = fc.constantFrom(...(Object.keys(LARGEST) as (keyof HostScoreInput)[]))
    fc.assert(
      fc.property(
        boxes,
        names,
        amount(1e12),
        fc.double({ min: 1, max: 10, noNaN: true }),
        (box, name, value, factor) => {
          const at = (value: number) =>
            scoreBox({ ...box, host: { ...box.host, [name]: fact('proven', value) } }, config).score
          expect(at(value * factor)).toBeGreaterThanOrEqual(at(value))
        },
      ),
      { numRuns: 300 },
    )
  })

  test('a failed run, no GPU and a GPU that shows no work score 0 at once, whatever else there is', () => {
    fc.assert(
      fc.property(boxes, modes, (box, mode) => {
        const settings = { ...config, mode }
        expect(scoreBox({ ...box, outcome: 'failed' }, settings)).toEqual({
          score: 0,
          terms: [],
          zeroBecause: 'failed',
        })
        expect(scoreBox({ ...box, gpu: null }, settings)).toEqual({ score: 0, terms: [], zeroBecause: 'no gpu' })
        expect(scoreBox({ ...box, gpu: proven({ count: 8, memoryBytes: 1e12 }) }, settings).score).toBe(0)
      }),
      { numRuns: 50 },
    )
  })

  const bestGpu = () => ({
    ...proven({
      count: 8,
      rates: config.reference.rates,
      sustained: config.reference.rates,
      memoryBytes: config.reference.memoryBytes,
      bandwidth: config.reference.bandwidth,
      scaling: 1,
    }),
    model: inferred<string>('gb200'),
  })
  const hugeHost = (source: Fact['source']): HostScoreInput =>
    Object.fromEntries(Object.keys(LARGEST).map((name) => [name, fact(source, 1e16)]))
  const best = (): BoxScoreInput => ({ outcome: 'passed', gpu: bestGpu(), host: hugeHost('proven'), ageMs: 0 })

  test('the reference configuration gets full marks, of which the GPU has 55 %', () => {
    const { score, terms } = scoreBox(best(), config)
    expect(score).toBeGreaterThan(FULL_SCORE - 20)
    expect(score).toBeLessThanOrEqual(FULL_SCORE)
    const gpu = terms.filter((term) => term.name.startsWith('gpu.')).reduce((sum, term) => sum + term.points, 0)
    expect(gpu / FULL_SCORE).toBeCloseTo(0.55, 4)
  })

  test('attack 73: a box whose cards show next to nothing scores next to nothing, whatever it says and is', () => {
    // What two large CPUs could show under the name of a GPU, in every problem at once.
    const cpuPosing = { int8: 4e14, fp8: 1e13, bf16: 2e14, fp16: 1e13, fp32: 1e13 }
    fc.assert(
      fc.property(unproven, fc.double({ min: 0, max: 1, noNaN: true }), (host, share) => {
        const shown = Object.fromEntries(Object.entries(cpuPosing).map(([name, value]) => [name, value * share]))
        const gpu = proven({ count: 32, rates: shown, sustained: shown })
        const box = { outcome: 'passed', gpu, host, registered: true, allocated: true, ageMs: 0 } as const
        expect(scoreBox(box, config).score).toBeLessThan(FULL_SCORE / 100)
      }),
      { numRuns: 300 },
    )
    const idle = { ...best(), gpu: proven({ count: 1, rates: { int8: 84e6 } }), registered: true, allocated: true }
    expect(scoreBox(idle, config).score).toBeLessThan(10)
  })

  test('attack 73: what is not proven of the host moves a score by at most a twentieth of it', () => {
    fc.assert(
      fc.property(
        boxes,
        unproven,
        unproven,
        modes,
        fc.double({ min: 0, max: 1, noNaN: true }),
        (box, a, b, mode, w) => {
          const weights = { gpu: w, cpu: (1 - w) / 2, ram: (1 - w) / 4, disk: (1 - w) / 4 }
          for (const settings of [config, { ...config, weights }]) {
            const [one, two] = [a, b].map((host) => scoreBox({ ...box, host }, { ...settings, mode }).score)
            const most = Math.min(FULL_SCORE, Math.min(one!, two!)) / 20
            // Two roundings: of the aged sum, and of the twentieth.
            expect(Math.abs(one! - two!)).toBeLessThanOrEqual(Math.max(most, 0) + 2)
          }
        },
      ),
      { numRuns: 500 },
    )
  })

  test('attack 73: a fact counts the more the better it is known, at most a tenth of its weight where it is not proven', () => {
    const host = (of: Fact['source']) =>
      scoreBox({ ...best(), host: hugeHost(of) }, config).terms.filter(({ name }) => /^(cpu|ram|disk)/.test(name))
    const [full, timed, said] = (['proven', 'measured', 'claimed'] as const).map(host)
    for (const [i, { points, source }] of full!.entries()) {
      expect(source).toBe('proven')
      expect(timed![i]!.points).toBeLessThanOrEqual(points / 10)
      expect(said![i]!.points).toBeLessThan(timed![i]!.points)
      expect(said![i]!.points).toBeGreaterThan(0)
    }
  })

  test('attack 74: a claimed value does not compile where only a proven one may stand', () => {
    // @ts-expect-error: a box's word for its cards
    const said: BoxScoreInput = { ...best(), gpu: claimed({ count: 8, rates: { bf16: 1e15 } }) }
    // @ts-expect-error: a number that does not say where it comes from
    const bare: BoxScoreInput = { ...best(), host: { ramBytes: 1e12 } }
    expect([said, bare]).toHaveLength(2)
  })

  test('a rate that was held counts more than one that was only shown', () => {
    const { sustained, ...gpu } = bestGpu()
    expect(scoreBox({ ...best(), gpu }, config).score).toBeLessThan(scoreBox(best(), config).score)
    const faded = { bf16: proven(sustained.bf16 / 2) }
    const peak = { bf16: sustained.bf16 }
    const fades = scoreBox({ ...best(), gpu: { ...gpu, rates: peak, sustained: faded } }, config).score
    expect(fades).toBeLessThan(scoreBox({ ...best(), gpu: { ...gpu, rates: peak } }, config).score)
  })

  test('normalize: base score times count, and an unknown card is scored by its rates', () => {
    const settings: ScoreConfig = { ...config, mode: 'normalize', normalize: { scores: { a: 2, b: 4 }, count: 8 } }
    const base = (model: string, count: number) =>
      scoreBox(
        { outcome: 'passed', gpu: { count, model: inferred(model), rates: proven({ bf16: 1 }) }, ageMs: 0 },
        settings,
      ).terms[0]
    expect(base('b', 8)).toMatchObject({ name: 'gpu.base', points: FULL_SCORE * 0.55 * 0.7, got: 32, full: 32 })
    expect(base('a', 8)!.points).toBe(base('b', 4)!.points)
    expect(base('b', 32)!.points).toBe(base('b', 8)!.points)
    expect(base('c', 8)!.name).toBe('gpu.int8')
  })

  test('registration and allocation add their bonus, age takes its share, each as a term', () => {
    const plain = scoreBox(best(), config).score
    const { score, terms } = scoreBox(
      { ...best(), registered: true, allocated: true, ageMs: config.decay.freshMs + config.decay.halfLifeMs },
      config,
    )
    expect(terms.map((term) => term.name).slice(-3)).toEqual(['bonus.registration', 'bonus.allocation', 'age'])
    expect(score).toBe(Math.floor((plain + config.registrationBonus + config.allocationBonus) / 2))
  })

  test('attack 445: an outcome, a tier, a source or a field that there is not is paid by nobody', () => {
    const wrong = [
      { outcome: 'rejected' },
      { outcome: undefined },
      { tier: 'Z' },
      { tier: null },
      { Tier: 'A' },
      { host: { ramBytes: { source: 'sworn', value: 1e12 } } },
      { gpu: { count: 1, rates: { BF16: 1e15 } } },
      { gpu: { count: 1, rates: { bf16: 1e15 }, scaling: 800 } },
    ]
    for (const one of wrong) expect(() => scoreBox({ ...best(), ...one } as never, config)).toThrow(RangeError)
    for (const one of [
      { tiers: { A: 1, B: 1 } },
      { weights: { ...config.weights, gpu: Number.NaN } },
      { mode: 'best' },
    ])
      expect(() => scoreBox(best(), { ...config, ...one } as never)).toThrow(RangeError)
  })

  test('nonsense is a fault of the caller', () => {
    expect(() => scoreBox({ ...best(), ageMs: -1 }, config)).toThrow(RangeError)
    expect(() => scoreBox({ ...best(), host: { ramBytes: fact('claimed', Number.NaN) } }, config)).toThrow(RangeError)
    expect(() => scoreBox({ ...best(), gpu: proven({ count: 1, rates: { bf16: Infinity } }) }, config)).toThrow(
      RangeError,
    )
  })
})

describe('shareAtAge', () => {
  const decay = { freshMs: 100, halfLifeMs: 10 }
  test('full while fresh, then half in each half-life, down to 0', () => {
    expect([0, 100, 105, 110, 115, 120].map((age) => shareAtAge(age, decay))).toEqual([1, 1, 0.75, 0.5, 0.375, 0.25])
    expect(shareAtAge(1e9, decay)).toBe(0)
  })

  test('never rises with age', () => {
    fc.assert(
      fc.property(amount(1e4), amount(1e4), (age, more) => {
        expect(shareAtAge(age + more, decay)).toBeLessThanOrEqual(shareAtAge(age, decay))
      }),
    )
  })
})

test('a tier is worth what the operator says, 1 by default, and the terms still add up', () => {
  const paid = { ...config, tiers: { A: 1, B: 0.9, C: 0.5 } }
  fc.assert(
    fc.property(boxes, fc.constantFrom('A' as const, 'B' as const, 'C' as const), (box, tier) => {
      const fresh = { ...box, ageMs: 0 }
      const whole = scoreBox(fresh, config).score
      const { score, terms } = scoreBox({ ...fresh, tier }, paid)
      expect(scoreBox({ ...fresh, tier }, config).score).toBe(whole)
      expect(score).toBe(Math.floor(whole * paid.tiers[tier]))
      expect(terms.reduce((sum, term) => sum + term.points, 0)).toBe(score)
      // Nothing attests unless somebody says so.
      expect(scoreBox(fresh, paid).score).toBe(Math.floor(whole * 0.5))
    }),
  )
})
