import type { Inventory } from '../wire/inventory.ts'

/** What a score takes from the rest of the box: measured by our program there, and capped by the score's own limits. */
export interface HostScoreFacts {
  readonly cpuWhetstoneMips?: number
  readonly ramBytes?: number
  readonly ramBandwidth?: number
  readonly diskBytes?: number
  readonly diskBandwidth?: number
}

const SOURCES = {
  cpuWhetstoneMips: 'cpuWhetstoneMips',
  ramBytes: 'memoryLimitBytes',
  ramBandwidth: 'ramBytesPerSec',
  diskBytes: 'diskFreeBytes',
  diskBandwidth: 'diskWriteBytesPerSec',
} as const satisfies Record<keyof HostScoreFacts, string>

/** A field that is missing, no number or no size counts for nothing. */
export function hostScoreFacts(host: Inventory['host']): HostScoreFacts {
  const entries = Object.entries(SOURCES).flatMap(([fact, name]) => {
    const value = host[name]
    return typeof value === 'number' && Number.isFinite(value) && value > 0 ? [[fact, value] as const] : []
  })
  return Object.fromEntries(entries)
}
