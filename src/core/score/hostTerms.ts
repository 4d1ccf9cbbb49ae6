import type { Fact } from '../params/provenance.ts'
import type { HostScoreInput, ScoreTerm } from './scoreBox.ts'
import { FULL_SCORE, type ScoreConfig } from './scoreConfig.ts'

/** Whatever a box says of its host gains it at most this share of what its cards earn. */
const MOST_UNPROVEN = 1 / 20

/** And no term that is not proven counts more than this share of its weight. */
const MOST_OF_A_TERM = 1 / 10

/**
 * CPU, memory and disk. Every term is scaled by the cards' share of full marks, so that no host stands in for a GPU,
 * and by what its fact is worth.
 */
export function hostTerms(host: HostScoreInput, gpuShare: number, config: ScoreConfig): readonly ScoreTerm[] {
  const { weights, limits } = config
  const term = (name: string, weight: number, fact: Fact | undefined, full: number): ScoreTerm => {
    if (fact === undefined) return { name, points: 0, got: 0, full }
    const marks = FULL_SCORE * weight * worth(fact.source, weights) * gpuShare
    return { name, points: capped(marks, fact.value, full), got: fact.value, full, source: fact.source }
  }
  return [
    term('cpu', weights.cpu, ...cpuFact(host, limits)),
    term('ram.capacity', weights.ram / 2, host.ramBytes, limits.ramBytes),
    term('ram.bandwidth', weights.ram / 2, host.ramBandwidth, limits.ramBandwidth),
    term('disk.capacity', weights.disk / 2, host.diskBytes, limits.diskBytes),
    term('disk.bandwidth', weights.disk / 2, host.diskBandwidth, limits.diskBandwidth),
  ]
}

/** What the validator timed itself goes before what the box says. */
const cpuFact = (host: HostScoreInput, limits: ScoreConfig['limits']): readonly [Fact | undefined, number] =>
  host.cpuLookups === undefined
    ? [host.cpuWhetstoneMips, limits.cpuWhetstoneMips]
    : [host.cpuLookups, limits.cpuLookups]

/** Share of its weight that a fact may earn. All unproven ones together stay below a twentieth of the cards' points. */
function worth(source: Fact['source'], { gpu }: ScoreConfig['weights']): number {
  const unproven = Math.min(MOST_OF_A_TERM, (MOST_UNPROVEN * gpu) / (1 - gpu || 1))
  return { proven: 1, measured: unproven, claimed: unproven / 2 }[source]
}

/** Beyond its upper limit a part gives no more: a huge disk must not stand in for a GPU. */
const capped = (marks: number, got: number, full: number): number =>
  full > 0 ? Math.floor(marks * Math.min(1, got / full)) : 0
