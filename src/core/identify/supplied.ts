import { C2C_LINK_BYTES_PER_SEC, HOST_LINK_BYTES_PER_SEC, type ProtocolVersion } from '../params/constants.ts'
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
  shownInt8 = 0,
): number {
  const link = models.some(({ hostLink }) => hostLink === 'c2c') ? C2C_LINK_BYTES_PER_SEC : HOST_LINK_BYTES_PER_SEC
  // A slow int8 part must not raise the floor: a known card recomputes as fast as that card can.
  const peak = Math.max(shownInt8, ...models.map((model) => prepareModel(model, rules).ceilings.int8 ?? 0))
  return link + peak / k
}

/**
 * Attack 465: the same by fewer cards than there were devices, of the share that each device has of them. Cards that could
 * have held all of it supply nothing, and those that do not reach the rates were not there.
 */
export function suppliedByFewer(
  {
    rates,
    heldBytes,
    devices,
    catalogue,
  }: Pick<SupplierQuestion, 'rates' | 'heldBytes' | 'catalogue'> & { readonly devices: number },
  k: number,
): number {
  const { rules, models } = catalogue
  const supplied = Array.from({ length: devices - 1 }, (_, i) => (i + 1) / devices).flatMap((share) => {
    const most = scaled(rates, 1 / share)
    const fewer = models.filter(
      (model) => share * model.memoryBytes < heldBytes && unreachedRate(model, most, rules) === undefined,
    )
    return fewer.map((model) => share * suppliedPerSecond([model], k, rules, most.int8))
  })
  return Math.max(0, ...supplied)
}

/** What cards show together, of which a device has a share. */
export const scaled = (rates: SupplierQuestion['rates'], by: number): SupplierQuestion['rates'] =>
  Object.fromEntries(Object.entries(rates).map(([name, rate]) => [name, by * rate]))

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
