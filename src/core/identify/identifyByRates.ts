import { MEMORY_BANDWIDTH_SHARE, type ProtocolVersion } from '../params/constants.ts'
import type { Proven } from '../params/provenance.ts'
import type { Catalogue, CatalogueRules, GpuModel } from './catalogue.ts'
import { copyBandwidth } from './expected.ts'
import { fitsWithin, rankModels } from './fits.ts'
import { cleanMeasured, type MeasuredGpu } from './measured.ts'
import { ruleOut } from './ruleOut.ts'

export interface RateIdentity {
  /** Every model that the rates alone allow, most likely first. */
  readonly candidates: readonly GpuModel[]
  /** The candidate whose bandwidth counts, or null for an unknown card ("held, read at x GB/s", not proven). */
  readonly counted: GpuModel | null
}

/** A model this many times less likely than the best one is not a candidate. */
const LEAST_LIKELY = Math.log(100)

export interface RateQuestion {
  readonly rates: NonNullable<MeasuredGpu['rates']>
  readonly kind?: 'gpu' | 'cpu'
  readonly catalogue: Catalogue
  /** Version 2: ids of the card that all that was measured points to, and then of its twins. The first candidate counts. */
  readonly identified?: readonly string[]
  /** Version 1, instead: ids of claimed models. Where one of them is a candidate it counts instead of the fastest one. */
  readonly claimed?: readonly string[]
  /** Version 2: a card with less memory than this is not the one that held it (attack 96). */
  readonly heldBytes?: number
}

/**
 * §7: which card the capacity is judged by. Candidates are from the rates of §4 alone, never from memory or bandwidth, so that
 * the answer to the memory part does not choose its own threshold. An H100 and an H200 compute alike, so of the candidates
 * the one counts that all that was measured points to, whatever was claimed (attack 506).
 */
export function identifyByRates(question: RateQuestion): RateIdentity {
  const { rates, kind, catalogue, identified, claimed = [], heldBytes = 0 } = question
  const measured = cleanMeasured({ rates })
  if (kind === 'cpu' || measured.rates === undefined) return { candidates: [], counted: null }
  const fits = rankModels(measured, catalogue).filter(fitsWithin)
  const best = fits[0]?.logLikelihood ?? 0
  const candidates = fits.filter((fit) => fit.logLikelihood >= best - LEAST_LIKELY).map((fit) => fit.model)
  const large = candidates.filter(({ memoryBytes }) => memoryBytes >= heldBytes)
  if (identified) {
    const named = identified.flatMap((id) => large.find((model) => model.id === id) ?? [])
    return { candidates, counted: named[0] ?? null }
  }
  const named = large.filter(({ id }) => claimed.includes(id))
  return { candidates, counted: fastestOf(named.length > 0 ? named : large, catalogue.rules) }
}

/**
 * Read as fast as the card that counts copies; from version 2 on also no faster than it can, and at least half of its
 * memory: a few megabytes in a cache are no memory (attack 97).
 */
export function isOwnMemory(
  { heldBytes: memoryBytes, perSecond: bandwidth }: Proven<{ readonly heldBytes: number; readonly perSecond: number }>,
  { counted }: RateIdentity,
  catalogueRules: CatalogueRules,
  rules: ProtocolVersion,
): boolean {
  const fastest = counted && copyBandwidth(counted, catalogueRules)
  if (counted === null || fastest === null || bandwidth < MEMORY_BANDWIDTH_SHARE * fastest) return false
  return rules === 1 || ruleOut(counted, { memoryBytes, bandwidth }, catalogueRules) === null
}

/** The first of the fastest; null where no bandwidth is known. */
function fastestOf(models: readonly GpuModel[], rules: CatalogueRules): GpuModel | null {
  const speed = (model: GpuModel | null) => (model && copyBandwidth(model, rules)) ?? 0
  return models.reduce<GpuModel | null>((best, model) => (speed(model) > speed(best) ? model : best), null)
}
