import type { Inventory } from '../inventory/inventory.ts'
import type { Fact } from '../params/provenance.ts'
import type { HostScoreInput } from './scoreBox.ts'

const FIELDS = {
  cpuWhetstoneMips: 'cpuWhetstoneMips',
  ramBytes: 'memoryLimitBytes',
  ramBandwidth: 'ramBytesPerSec',
  diskBytes: 'diskFreeBytes',
  diskBandwidth: 'diskWriteBytesPerSec',
} as const satisfies Partial<Record<keyof HostScoreInput, string>>

/** What the box says of itself, as a score may take it. A field that is missing, no number or no size is left out. */
export function hostClaims(host: Inventory['host']): Partial<Record<keyof typeof FIELDS, Fact<'claimed'>>> {
  const entries = Object.entries(FIELDS).flatMap(([fact, name]) => {
    const value = host[name]
    const isSize = typeof value === 'number' && Number.isFinite(value) && value > 0
    return isSize ? [[fact, { source: 'claimed' as const, value }] as const] : []
  })
  return Object.fromEntries(entries)
}
