import type { Catalogue, GpuModel } from '../identify/catalogue.ts'
import { type Expected, expectedBandwidth, expectedRate } from '../identify/expected.ts'
import { parseClaim } from '../identify/parseClaim.ts'
import type { MeasuredDevice } from './benchReport.ts'

/** A driver tells a few percent less memory than the datasheet; a slice of a card much less. */
const LEAST_MEMORY = 0.85
const MOST_MEMORY = 1.1

/**
 * Which card of the catalogue a device is held against: one that its name (or the claim) can mean and whose memory it has,
 * the nearest of several in what was measured. By name and not by rates: a slow card must not pass as a slower model.
 */
export function expectedModel(device: MeasuredDevice, card: string, catalogue: Catalogue): GpuModel | null {
  if (device.class !== 'gpu') return null
  const parsed = parseClaim(card, catalogue)
  const named = parsed.ok ? parsed.claim.models : []
  const fitting = named.filter(({ memoryBytes }) => {
    const share = device.memoryBytes / memoryBytes
    return share >= LEAST_MEMORY && share <= MOST_MEMORY
  })
  const far = (model: GpuModel) => distance(device, model, catalogue)
  return fitting.reduce<GpuModel | null>((best, model) => (best && far(best) <= far(model) ? best : model), null)
}

/** Mean square of ln(measured / expected). */
function distance({ products, memory }: MeasuredDevice, model: GpuModel, { rules }: Catalogue): number {
  const off = (value: number, expected: Expected | null) => (expected ? [Math.log(value / expected.centre) ** 2] : [])
  const all = [
    ...products.flatMap(({ precision, provenOpsPerSec }) =>
      off(provenOpsPerSec, expectedRate(model, precision, rules)),
    ),
    ...(memory ? off(memory.bytesPerSec, expectedBandwidth(model, rules)) : []),
  ]
  return all.length === 0 ? 0 : all.reduce((sum, one) => sum + one, 0) / all.length
}
