import { HOST_LINK_BYTES_PER_SEC, PROTOCOL_VERSION, type ProtocolVersion } from '../params/constants.ts'
import type { Catalogue, CatalogueRules, GpuModel } from './catalogue.ts'
import type { RateIdentity } from './identifyByRates.ts'
import type { MeasuredGpu } from './measured.ts'
import { prepareModel } from './prepareModel.ts'
import { unreachedRate } from './ruleOut.ts'

/** §7: bytes a second that cards like these could have had from their host, or computed again, instead of holding them. */
export function suppliedPerSecond(
  models: readonly GpuModel[],
  k: number,
  rules: CatalogueRules,
  { shownInt8 = 0, version = PROTOCOL_VERSION }: { shownInt8?: number; version?: ProtocolVersion } = {},
): number {
  const link = Math.max(
    ...models.map(({ hostLink }) => HOST_LINK_BYTES_PER_SEC[hostLink]),
    HOST_LINK_BYTES_PER_SEC.pcie,
  )
  // A slow int8 part must not raise the floor: a known card recomputes as fast as that card can.
  const peaks = models.map((model) => {
    const { ceilings, recomputes } = prepareModel(model, rules)
    return version === 1 ? (ceilings.int8 ?? 0) : recomputes
  })
  return link + Math.max(shownInt8, ...peaks) / k
}

/** Fewer cards for some of the devices of a run, and what those held at the least and at the most. */
export interface Fewer {
  readonly cards: number
  readonly devices: number
  readonly least: number
  readonly most: number
}

/** Attacks 465 and 468: every number of cards that may stand for more devices, of which the others are what they seem. */
export function fewerFor(held: readonly number[]): Fewer[] {
  const rising = [...held].sort((a, b) => a - b)
  const sumOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0)
  return rising.flatMap((_, i) => {
    const devices = rising.length - i
    const [least, most] = [sumOf(rising.slice(0, devices)), sumOf(rising.slice(i))]
    return Array.from({ length: devices - 1 }, (_, j) => ({ cards: devices - 1 - j, devices, least, most }))
  })
}

/** What a device of several may have been supplied with, if one card served more of them than it has room for. */
export function suppliedByFewer(held: readonly number[], k: number, { rules, models }: Catalogue): number {
  const together = held.reduce((sum, bytes) => sum + bytes, 0)
  const lesser = held.length > 1 ? models.filter(({ memoryBytes }) => memoryBytes < together) : []
  return Math.max(0, ...lesser.map((model) => suppliedPerSecond([model], k, rules)))
}

export interface SupplierQuestion {
  readonly rates: NonNullable<MeasuredGpu['rates']>
  readonly heldBytes: number
  readonly byRates: RateIdentity
  readonly catalogue: Catalogue
  readonly rules: ProtocolVersion
}

/**
 * Attack 69: the cards that may have supplied memory. Version 1 took the link of the card the claim names. Now it is every
 * card that fits the rates, and every one that reaches them with less memory than was held: slowing down is free.
 */
export function suppliers({ rates, heldBytes, byRates, catalogue, rules }: SupplierQuestion): readonly GpuModel[] {
  const { candidates, counted } = byRates
  if (rules === 1) return counted ? [counted] : []
  const lesser = catalogue.models.filter(
    (model) => model.memoryBytes < heldBytes && unreachedRate(model, rates, catalogue.rules) === undefined,
  )
  return [...candidates, ...lesser]
}
