import type { Catalogue, GpuModel } from '../../src/core/identify/catalogue.ts'
import { identifyByRates, isOwnMemory } from '../../src/core/identify/identifyByRates.ts'
import { identifyGpu } from '../../src/core/identify/identifyGpu.ts'
import { prepareModel } from '../../src/core/identify/prepareModel.ts'
import { suppliedPerSecond } from '../../src/core/identify/supplied.ts'
import { PRECISION_NAMES, type Precision } from '../../src/core/params/precision.ts'
import { type Proven, proven } from '../../src/core/params/provenance.ts'
import { idleFill } from '../../src/core/proof/sizeClass.ts'
import { defaultScoreConfig } from '../../src/core/score/defaultScoreConfig.ts'
import { gpuTotals } from '../../src/core/score/gpuTotals.ts'
import { scoreBox } from '../../src/core/score/scoreBox.ts'

export interface Posing {
  /** As how many devices one card poses, which share all that it does. */
  readonly devices: number
  /** How much faster it seems to read, by the order in which it does (proof-of-gpu.md §7.15). */
  readonly readsAs: number
}

type Rates = Proven<Partial<Record<Precision, number>>>

/** One of the equal devices. */
type Shown = Proven<{ readonly rates: Rates; readonly memoryBytes: number; readonly bandwidth: number }>

/**
 * The most that a card earns of its own score by holding more memory than it has, lent by its host or computed again: at its
 * full rates, or with one of them withheld.
 */
export function lentGain(catalogue: Catalogue, { devices, readsAs }: Posing, model: GpuModel): number {
  const { models, rules } = catalogue
  const config = defaultScoreConfig(catalogue)
  const { own, ways, bandwidth } = prepareModel(model, rules)
  const supplied = suppliedPerSecond([model], 32768, rules)
  const shownBy = (rates: Rates, memoryBytes: number, as: Posing): Shown => {
    const together = as.devices * memoryBytes
    const readSeconds = (2 * together) / (as.readsAs * bandwidth!.centre)
    const seconds = Math.max(readSeconds, (together - model.memoryBytes) / supplied)
    const shares = Object.entries(rates).map(([name, rate]) => [name, Math.floor(rate / as.devices)])
    return proven({
      rates: Object.fromEntries(shares),
      memoryBytes: Math.floor(memoryBytes),
      bandwidth: Math.floor((2 * memoryBytes) / seconds),
    })
  }
  const scoreOf = ({ rates, memoryBytes: heldBytes, bandwidth: perSecond }: Shown, count: number): number => {
    const shown = PRECISION_NAMES.filter((name) => rates[name] !== undefined)
    const precision = shown.find((name) => name === 'bf16') ?? shown[0]!
    const device = {
      rates,
      sustained: { precision, perSecond: rates[precision]! },
      memory: { heldBytes, perSecond, status: 'proven' as const },
      identity: { status: 'identified' },
    }
    const gpu = gpuTotals(
      Array.from({ length: count }, () => device),
      null,
    )
    return scoreBox({ outcome: 'passed', registered: false, allocated: false, ageMs: 0, gpu }, config).score
  }
  const isProven = ({ rates, memoryBytes: heldBytes, bandwidth: perSecond }: Shown) => {
    const declined = PRECISION_NAMES.filter((name) => rates[name] === undefined)
    const card = identifyGpu({ rates, memoryBytes: heldBytes, bandwidth: perSecond, declined }, catalogue)
    if (card.model === null) return false
    const identified = [card.model.id, ...card.twins]
    const byRates = identifyByRates({ rates, catalogue, identified, heldBytes })
    return isOwnMemory({ heldBytes, perSecond }, byRates, rules, 2)
  }
  const able = PRECISION_NAMES.filter((name) => own.has(name) || name === 'int8')
  const centre = (name: Precision) => (own.has(name) ? ways[name][0]! : ways.fp32[0]!).expected.centre
  const all = able.map((name) => [name, Math.floor(centre(name))] as const)
  const whole: Rates = proven(Object.fromEntries(all))
  const withheld = all.map((kept): Rates => proven(Object.fromEntries(all.filter((one) => one !== kept))))
  const sizes = new Set(models.flatMap(({ memoryBytes }) => [0.55, 0.75, 0.9, 1].map((share) => share * memoryBytes)))
  const least = devices === 1 && readsAs === 1 ? model.memoryBytes : 0.5 * model.memoryBytes
  const lent = [...sizes].filter((bytes) => devices * bytes > least && devices * bytes <= 4 * model.memoryBytes)
  const gains = lent
    .flatMap((bytes) => [whole, ...withheld].map((rates) => shownBy(rates, bytes, { devices, readsAs })))
    .filter(isProven)
    .map((shown) => scoreOf(shown, devices))
  return Math.max(0, ...gains) / scoreOf(shownBy(whole, idleFill(model), { devices: 1, readsAs: 1 }), 1)
}
