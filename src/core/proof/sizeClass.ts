import { KEPT_TILE_BYTES, MAX_KEPT, TILE } from '../params/constants.ts'
import type { Precision } from '../params/precision.ts'
import { PRESETS, type Preset } from '../params/presets.ts'

/** What a device is, whoever made it: the class decides k and sizes, the back end is only a name. */
export type DeviceClass = 'cpu' | 'gpu'

/** What sizing needs to know of a device. Claims: they decide what is asked, never what is accepted. */
export interface SizedDevice {
  readonly class: DeviceClass
  readonly memoryBytes: number
  readonly freeBytes: number
  readonly details?: Readonly<Record<string, unknown>>
}

export const ENTRY_BYTES: Readonly<Record<Precision, number>> = { int8: 1, fp8: 1, bf16: 2, fp16: 2, fp32: 4 }

/** §4.0. A round should stay under this, so that roots keep coming. */
export const LONGEST_ROUND_SECONDS = 0.2

/** m = n of a card's first calibration; only what does not fit its memory is smaller. */
export const SIZING_SIZE = 8192

/** k of a CPU, and of bound rounds, which are about C alone. */
export const SHALLOW_K = 2048

/** §4.0. k is never lowered: it is what makes storing cheaper than recomputing. A CPU has one k for everything. */
export function classK(preset: Preset, device: DeviceClass, precision: Precision): number {
  if (preset.size > 0) return device === 'cpu' ? Math.min(preset.size, SHALLOW_K) : preset.size
  if (device === 'cpu') return SHALLOW_K
  return precision === 'fp32' ? 8192 : 32768
}

/** Bytes one product needs: both operands, C, and 16 bytes a tile for a few rounds of fingerprints. */
export function productBytes(size: number, k: number, precision: Precision): number {
  const tiles = (size / TILE) ** 2
  return 2 * size * k * ENTRY_BYTES[precision] + 4 * size * size + 64 * tiles
}

const CPU_SIZES = [2048, 1024, 512, 256, 128, 64]
/** The least m = n of a card. */
export const SMALLEST_SIZE = 1024
const CARD_SIZES = [32768, 16384, 8192, 4096, 2048, SMALLEST_SIZE]

/** §4.0. The largest m = n of the device's class that fits `bytes`, or the smallest there is. */
export function largestSize(
  preset: Preset,
  device: DeviceClass,
  precision: Precision,
  k: number,
  bytes: number,
): number {
  const sizes = (device === 'cpu' ? CPU_SIZES : CARD_SIZES).filter((size) => preset.size === 0 || size <= preset.size)
  const candidates = sizes.length > 0 ? sizes : [preset.size]
  return candidates.find((size) => productBytes(size, k, precision) <= bytes) ?? candidates.at(-1)!
}

/** §4.0, §7. Memory runs in the largest class whose operands and product take at most 3 % of the card. */
export function memorySize(preset: Preset, device: SizedDevice, k: number): number {
  if (preset.name === 'tiny') return preset.size
  if (device.class === 'cpu') return 512
  return largestSize(preset, device.class, 'int8', k, 0.03 * device.memoryBytes)
}

/** Host memory a CPU proves: filling costs k products an entry, so more would only take longer. */
const CPU_FILL_BYTES = 128 * 2 ** 20

/** What the driver and the library need beside us on a card. */
const CARD_RESERVE_BYTES = 512 * 2 ** 20

/** §7. Kept rounds: 96 % of the card with its fingerprints (94 % without), or what is free; what was left out shows in the verdict. */
export function keptRounds(preset: Preset, device: SizedDevice, size: number, k: number): number {
  if (preset.name === 'tiny') return 2
  const roundBytes = (size / TILE) ** 2 * (2048 + 32)
  const room = device.freeBytes - productBytes(size, k, 'int8') - CARD_RESERVE_BYTES
  const whole = device.class === 'cpu' ? CPU_FILL_BYTES : Math.min(0.96 * device.memoryBytes, room)
  const wanted = preset.fillBytes > 0 ? Math.min(preset.fillBytes, whole) : whole
  // What a box claims of its memory must not make a challenge that breaks the bounds of §4.
  const most = Math.min(MAX_KEPT, Math.floor((2 ** 32 - 1) / (size / TILE) ** 2))
  return Math.min(most, Math.max(2, Math.floor(wanted / roundBytes)))
}

export interface CardMemory {
  readonly memoryBytes: number
  readonly reported?: { readonly bytes: number } | undefined
}

/** Of its memory an idle H200 reports so much, and so much of that is in use once it is opened; no other card was measured. */
const REPORTED_SHARE = 0.9915
const IN_USE_SHARE = 0.03
const IN_USE_BYTES = 550e6

/** What an idle card of so much memory holds in a whole run, as far as that is known. */
export function idleFill({ memoryBytes, reported: known }: CardMemory): number {
  const reported = known?.bytes ?? Math.floor(REPORTED_SHARE * memoryBytes)
  const inUse = Math.min(IN_USE_BYTES, Math.floor(IN_USE_SHARE * memoryBytes))
  const device = { class: 'gpu', memoryBytes: reported, freeBytes: reported - inUse } as const
  const k = classK(PRESETS.mainnet, 'gpu', 'int8')
  const size = memorySize(PRESETS.mainnet, device, k)
  return keptRounds(PRESETS.mainnet, device, size, k) * (size / TILE) ** 2 * KEPT_TILE_BYTES
}
