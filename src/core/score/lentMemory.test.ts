import { expect, test } from 'vitest'
import { shippedCatalogue } from '../../../test/sim/shippedCatalogue.ts'
import type { GpuModel } from '../identify/catalogue.ts'
import { identifyByRates, isOwnMemory } from '../identify/identifyByRates.ts'
import { identifyGpu } from '../identify/identifyGpu.ts'
import { prepareModel } from '../identify/prepareModel.ts'
import { suppliedPerSecond } from '../identify/supplied.ts'
import { PRECISION_NAMES, type Precision } from '../params/precision.ts'
import { type Proven, proven } from '../params/provenance.ts'
import { idleFill } from '../proof/sizeClass.ts'
import { defaultScoreConfig } from './defaultScoreConfig.ts'
import { gpuTotals } from './gpuTotals.ts'
import { scoreBox } from './scoreBox.ts'

/** Of what each card itself earns; any other card at most this (score.md S1). */
const MOST_OF: Readonly<Record<string, number>> = { 'rtx-4060': 1.136 }
const MOST_OF_ANY_OTHER = 1.09

test('attack 506: memory that a host lends, or that is computed again, earns an eleventh at most, but for one card', async () => {
  const catalogue = await shippedCatalogue()
  const { models, rules } = catalogue
  const config = defaultScoreConfig(catalogue)
  type Rates = Proven<Partial<Record<Precision, number>>>
  type Shown = ReturnType<typeof shownBy>
  const shownBy = (model: GpuModel, rates: Rates, memoryBytes: number) => {
    const own = prepareModel(model, rules).bandwidth!.centre
    const lentSeconds = (memoryBytes - model.memoryBytes) / suppliedPerSecond([model], 32768, rules)
    const bandwidth = (2 * memoryBytes) / Math.max((2 * memoryBytes) / own, lentSeconds)
    return proven({ rates, memoryBytes: Math.floor(memoryBytes), bandwidth: Math.floor(bandwidth) })
  }
  const scoreOf = ({ rates, memoryBytes: heldBytes, bandwidth: perSecond }: Shown): number => {
    const precision =
      PRECISION_NAMES.find((name) => name === 'bf16' && rates[name]) ??
      (rates.int8 ? 'int8' : PRECISION_NAMES.find((name) => rates[name])!)
    const device = {
      rates,
      sustained: { precision, perSecond: rates[precision]! },
      memory: { heldBytes, perSecond, status: 'proven' as const },
      identity: { status: 'identified' },
    }
    const input = { outcome: 'passed' as const, registered: false, allocated: false, ageMs: 0 }
    return scoreBox({ ...input, gpu: gpuTotals([device], null) }, config).score
  }
  const isProven = (shown: Shown) => {
    const declined = PRECISION_NAMES.filter((name) => shown.rates[name] === undefined)
    const { model, twins } = identifyGpu({ ...shown, declined }, catalogue)
    if (model === null) return false
    const { rates, memoryBytes: heldBytes, bandwidth: perSecond } = shown
    const byRates = identifyByRates({ rates, catalogue, identified: [model.id, ...twins], heldBytes })
    return isOwnMemory({ heldBytes, perSecond }, byRates, rules, 2)
  }
  const gainOf = (model: GpuModel): number => {
    const { own, ways } = prepareModel(model, rules)
    const able = PRECISION_NAMES.filter((name) => own.has(name) || name === 'int8')
    const centre = (name: Precision) => (own.has(name) ? ways[name][0]! : ways.fp32[0]!).expected.centre
    const all = able.map((name) => [name, Math.floor(centre(name))] as const)
    const whole: Rates = proven(Object.fromEntries(all))
    // It may keep one of its rates to itself.
    const withheld = all.map((kept) => proven(Object.fromEntries(all.filter((one) => one !== kept))))
    const sizes = new Set(models.flatMap(({ memoryBytes }) => [0.5, 0.75, 0.9, 1].map((share) => share * memoryBytes)))
    const lent = [...sizes].filter((bytes) => bytes > model.memoryBytes && bytes <= 4 * model.memoryBytes)
    const shown = lent.flatMap((bytes) => [whole, ...withheld].map((rates) => shownBy(model, rates, bytes)))
    return Math.max(0, ...shown.filter(isProven).map(scoreOf)) / scoreOf(shownBy(model, whole, idleFill(model)))
  }
  const above = models.filter((model) => gainOf(model) > (MOST_OF[model.id] ?? MOST_OF_ANY_OTHER))
  expect(above.map(({ id }) => id)).toEqual([])
})
