import type { PartShape } from './part.ts'

/** A series of rounds from a seed (§4.2); `bind` fingerprints each tile together with its partner (§8). */
export interface SeriesTask extends Pick<PartShape, 'precision' | 'm' | 'n' | 'k' | 'rounds'> {
  readonly kind: 'rounds' | 'bind'
  readonly seed: Uint8Array
}

/** §7: a series of `kept` int8 rounds whose low 16 bits per entry stay in the device's memory. */
export interface FillTask extends Pick<PartShape, 'm' | 'n' | 'k'> {
  readonly kept: number
  readonly seed: Uint8Array
}

/**
 * What a device can be asked to do; `peer` is the device whose fill the partners of the passes come from (§8). Passes that
 * are `joint` follow from those of all devices (§7).
 */
export type DeviceTask =
  | { readonly series: SeriesTask }
  | { readonly fill: FillTask }
  | {
      readonly passes: { readonly passes: number; readonly start: Uint8Array }
      readonly peer: number
      readonly joint: boolean
    }
