import type { Precision } from '../params/precision.ts'
import { type Inferred, type Proven, proven, sum } from '../params/provenance.ts'
import type { GpuScoreInput } from './scoreBox.ts'
import { requireDevices } from './scoreForms.ts'

type Rates = Proven<Partial<Record<Precision, number>>>

/** What a judged device brings to the score; the devices of a judgement have these fields and more. */
export interface ScoredDevice {
  readonly rates: Rates
  readonly sustained: { readonly precision: Precision; readonly perSecond: Proven } | null
  readonly memory: { readonly heldBytes: Proven; readonly perSecond: Proven; readonly status: 'proven' | 'held' } | null
  readonly identity: { readonly status: string; readonly cards?: readonly Inferred<string>[] }
}

/**
 * Totals over the devices of a run, or null where a device is a CPU: which is not paid as a GPU. Memory that is held
 * but not proven as the card's own (§7) counts for nothing, and so does its speed. A model is no total: it is paid where it
 * was sold and shown whole (`scoreInput`, attack 99).
 */
export function gpuTotals(devices: readonly ScoredDevice[], scaling: Proven | null): GpuScoreInput | null {
  requireDevices(devices, scaling)
  if (devices.length === 0 || devices.some((device) => device.identity.status === 'cpu')) return null
  const memories = devices.flatMap(({ memory }) => (memory?.status === 'proven' ? [memory] : []))
  return {
    count: devices.length,
    rates: sumRates(devices.map((device) => device.rates)),
    sustained: sumRates(
      devices.flatMap(({ sustained }) => (sustained ? [{ [sustained.precision]: sustained.perSecond }] : [])),
    ),
    memoryBytes: sum(memories.map(({ heldBytes }) => heldBytes)),
    bandwidth: sum(memories.map(({ perSecond }) => perSecond)),
    scaling: proven(scaling === null ? 1 : scaling / 1000),
  }
}

function sumRates(all: readonly Rates[]): Rates {
  const totals: Partial<Record<Precision, Proven>> = {}
  for (const rates of all)
    for (const [name, rate] of Object.entries(rates) as [Precision, Proven][])
      totals[name] = sum([totals[name] ?? proven(0), rate])
  return totals
}
