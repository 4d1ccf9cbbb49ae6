import type { Precision } from '../params/precision.ts'
import { type Proven, proven } from './fact.ts'
import type { GpuScoreInput } from './scoreBox.ts'

/** What a judged device brings to the score; the devices of a judgement have these fields and more. */
export interface ScoredDevice {
  readonly rates: Readonly<Partial<Record<Precision, number>>>
  readonly sustained: { readonly precision: Precision; readonly perSecond: number } | null
  readonly memory: {
    readonly heldBytes: number
    readonly perSecond: number
    readonly status: 'proven' | 'held'
  } | null
  readonly identity: { readonly status: string; readonly model: string | null }
}

/**
 * Totals over the devices of a run, or null where a device is a CPU: which is not paid as a GPU. Memory that is held
 * but not proven as the card's own (§7) counts for nothing, and so does its speed.
 */
export function gpuTotals(
  devices: readonly ScoredDevice[],
  scalingThousandths: number | null,
): Proven<GpuScoreInput> | null {
  if (devices.length === 0 || devices.some((device) => device.identity.status === 'cpu')) return null
  const models = new Set(devices.map((device) => device.identity.model))
  const [model] = models
  const memories = devices.flatMap(({ memory }) => (memory?.status === 'proven' ? [memory] : []))
  return proven({
    count: devices.length,
    rates: sumRates(devices.map((device) => device.rates)),
    sustained: sumRates(
      devices.flatMap(({ sustained }) => (sustained ? [{ [sustained.precision]: sustained.perSecond }] : [])),
    ),
    memoryBytes: memories.reduce((sum, { heldBytes }) => sum + heldBytes, 0),
    bandwidth: memories.reduce((sum, { perSecond }) => sum + perSecond, 0),
    scaling: scalingThousandths === null ? 1 : scalingThousandths / 1000,
    ...(models.size === 1 && typeof model === 'string' ? { model } : {}),
  })
}

function sumRates(all: readonly Readonly<Partial<Record<Precision, number>>>[]): Partial<Record<Precision, number>> {
  const totals: Partial<Record<Precision, number>> = {}
  for (const rates of all)
    for (const [name, rate] of Object.entries(rates) as [Precision, number][]) totals[name] = (totals[name] ?? 0) + rate
  return totals
}
