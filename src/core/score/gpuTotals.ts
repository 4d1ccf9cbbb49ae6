import type { Precision } from '../params/precision.ts'
import type { GpuScoreInput } from './scoreBox.ts'

/** What a judged device brings to the score; the devices of a judgement have these fields and more. */
export interface ScoredDevice {
  readonly rates: Readonly<Partial<Record<Precision, number>>>
  readonly sustained: { readonly precision: Precision; readonly perSecond: number } | null
  readonly memory: {
    readonly heldBytes: number
    readonly perSecond: number
    readonly floorBytes: number | null
    readonly status: 'proven' | 'held'
  } | null
  readonly identity: { readonly status: string; readonly model: string | null }
}

/**
 * Totals over the devices of a run, or null where a device is a CPU: it is no GPU to be paid for. Memory that is not
 * proven as the card's own counts with its floor (§7): what neither host memory nor recomputation could have supplied.
 */
export function gpuTotals(devices: readonly ScoredDevice[], scalingThousandths: number | null): GpuScoreInput | null {
  if (devices.length === 0 || devices.some((device) => device.identity.status === 'cpu')) return null
  const models = new Set(devices.map((device) => device.identity.model))
  const [model] = models
  return {
    count: devices.length,
    rates: sumRates(devices.map((device) => device.rates)),
    sustained: sumRates(
      devices.flatMap(({ sustained }) => (sustained ? [{ [sustained.precision]: sustained.perSecond }] : [])),
    ),
    memoryBytes: devices.reduce((sum, { memory }) => sum + (memory === null ? 0 : ownBytes(memory)), 0),
    bandwidth: devices.reduce((sum, { memory }) => sum + (memory?.perSecond ?? 0), 0),
    scaling: scalingThousandths === null ? 1 : scalingThousandths / 1000,
    ...(models.size === 1 && typeof model === 'string' ? { model } : {}),
  }
}

const ownBytes = ({ status, heldBytes, floorBytes }: NonNullable<ScoredDevice['memory']>): number =>
  status === 'proven' ? heldBytes : (floorBytes ?? 0)

function sumRates(all: readonly Readonly<Partial<Record<Precision, number>>>[]): Partial<Record<Precision, number>> {
  const totals: Partial<Record<Precision, number>> = {}
  for (const rates of all)
    for (const [name, rate] of Object.entries(rates) as [Precision, number][]) totals[name] = (totals[name] ?? 0) + rate
  return totals
}
