import { PROTOCOL_VERSION, type ProtocolVersion } from '../params/constants.ts'
import { PRECISION_NAMES } from '../params/precision.ts'
import { type Claimed, claimed, type Inferred, inferred, type Proven } from '../params/provenance.ts'
import type { Catalogue, GpuModel } from './catalogue.ts'
import { rateCeiling, TOLERATED_EXCESS } from './expected.ts'
import type { MeasuredGpu } from './measured.ts'

/** What one claimed device proved, all of it in windows that all devices shared. */
export type DeviceTotals = Pick<MeasuredGpu, 'rates'> & { readonly memoryBytes?: Proven | Inferred }

export interface CardCount {
  readonly claimed: Claimed
  /** The smallest number of catalogue cards, of any mix, that could have produced the totals. */
  readonly least: Inferred
  /** True only if no catalogue card covers two of the claimed devices, and no fewer cards all of them, in every part. */
  readonly established: boolean
  readonly sentence: string
}

/** Five rates and the memory: what a card can do, or what was shown. */
type Parts = readonly number[]
const PARTS = [...PRECISION_NAMES, 'memory']

/** §1 and attack 35: one large card may pose as several small ones within the totals. */
export function countCards(
  devices: readonly DeviceTotals[],
  catalogue: Catalogue,
  rules: ProtocolVersion = PROTOCOL_VERSION,
  countsMemory = rules === 1,
): CardCount {
  const count = claimed(devices.length)
  if (count === 0) return { claimed: count, least: inferred(0), established: false, sentence: 'no device answered' }
  const shown = devices.map((device) => partsShown(device, countsMemory))
  if (!shown.flat().every((value) => Number.isFinite(value) && value >= 0))
    throw new RangeError('identify: every total must be a finite number, not below 0')
  const cards = catalogue.models.map((model) => partsPossible(model, catalogue))
  const least = inferred(leastCards(shown.reduce(addParts), strongest(cards), count))
  // Seven cards that take turns are eight devices of which no card covers two (attack 112).
  const established = !someCardCoversTwo(shown, cards) && (rules === 1 || least === devices.length)
  const counted = { claimed: count, least, established }
  return { ...counted, sentence: describe(counted) }
}

function describe({ claimed, least, established }: Pick<CardCount, 'claimed' | 'least' | 'established'>): string {
  if (established && claimed > 1)
    return `count established: no card of the catalogue covers two of the ${claimed} devices`
  if (claimed === 1) return 'one device'
  return `count claimed; the totals need at least ${least} ${least === 1 ? 'card' : 'cards'}`
}

/** Memory that a card lacks its host may have, or another card (attacks 143, 402). */
const partsShown = (device: DeviceTotals, countsMemory: boolean): Parts => [
  ...PRECISION_NAMES.map((name) => device.rates?.[name] ?? 0),
  countsMemory ? (device.memoryBytes ?? 0) : 0,
]

/** A rate the catalogue knows nothing of might be anything: it must not make a count look established. */
const partsPossible = (model: GpuModel, catalogue: Catalogue): Parts => [
  ...PRECISION_NAMES.map((name) => (rateCeiling(model, name, catalogue.rules) ?? Infinity) * TOLERATED_EXCESS),
  model.memoryBytes,
]

const addParts = (a: Parts, b: Parts): Parts => a.map((value, i) => value + b[i]!)
const covers = (card: Parts, need: Parts): boolean => need.every((value, i) => value <= card[i]!)

const someCardCoversTwo = (shown: readonly Parts[], cards: readonly Parts[]): boolean =>
  shown.some((own, i) => shown.slice(i + 1).some((other) => cards.some((card) => covers(card, addParts(own, other)))))

/** Cards that no other card beats in every part: a smallest mix needs no others. */
function strongest(cards: readonly Parts[]): readonly Parts[] {
  return cards.filter(
    (card, i) => !cards.some((other, j) => i !== j && covers(other, card) && (!covers(card, other) || j < i)),
  )
}

/** Steps of the search. The shipped catalogue stays far below; one that a stranger sent could ask for ages (attack 117). */
const MOST_STEPS = 1_000_000

/**
 * Never above `atMost`: the devices themselves produced the totals, catalogued or not. A search that is too long ends with
 * the number it had reached: fewer cards than that are ruled out, and more are not shown.
 */
function leastCards(need: Parts, cards: readonly Parts[], atMost: number): number {
  const best = bestFrom(cards)
  let steps = 0
  const covered = (missing: Parts, from: number, count: number): boolean => {
    if (missing.every((value) => value <= 0) || ++steps > MOST_STEPS) return true
    if (lowerBound(missing, best[from]!) > count) return false
    const rest = missing.map((value, i) => value - cards[from]![i]!)
    return covered(rest, from, count - 1) || covered(missing, from + 1, count)
  }
  for (let count = lowerBound(need, best[0]!); count < atMost; count++) if (covered(need, 0, count)) return count
  return atMost
}

/** The most of each part that any card from this place on has; after the last none has anything. */
function bestFrom(cards: readonly Parts[]): readonly Parts[] {
  const best: Parts[] = [PARTS.map(() => 0)]
  for (const card of cards.toReversed()) best.unshift(card.map((value, i) => Math.max(value, best[0]![i]!)))
  return best
}

/** At least 1, and without end where something is missing that no card has. */
const lowerBound = (need: Parts, best: Parts): number =>
  Math.max(1, ...need.map((value, i) => (value <= 0 ? 0 : Math.ceil(value / best[i]!))))
