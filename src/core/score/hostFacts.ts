import { type HostPart, WRONG_MARK } from '../inventory/hostReport.ts'
import type { Inventory } from '../inventory/inventory.ts'
import { type Fact, fact } from '../params/provenance.ts'
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

const FACTS = { cpu: 'cpuLookups', memory: 'ramBandwidth', disk: 'diskBandwidth' } as const satisfies Record<
  HostPart['part'],
  keyof HostScoreInput
>

/** What the host parts of a run are worth. A part with a wrong mark counts as 0, so that no claim steps in for it. */
export function hostShown(parts: readonly HostPart[]): Partial<Record<(typeof FACTS)[HostPart['part']], Fact>> {
  const facts = parts.flatMap(({ part, source, bytesPerSec, problem }): [string, Fact][] => {
    if (problem?.code === WRONG_MARK) return [[FACTS[part], fact('measured', 0)]]
    if (source === null) return []
    return [[FACTS[part], fact(source, bytesPerSec)]]
  })
  return Object.fromEntries(facts)
}
