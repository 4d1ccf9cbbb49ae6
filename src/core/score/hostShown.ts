import { type HostPart, WRONG_MARK } from '../inventory/hostReport.ts'
import { type Fact, fact } from '../params/provenance.ts'
import type { HostScoreInput } from './scoreBox.ts'

const FACTS = { cpu: 'cpuHashing', memory: 'ramBandwidth', disk: 'diskBandwidth' } as const satisfies Record<
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
