import { fleetRoundOfHeight } from '../../../core/schedule/fleetRoundOfHeight.ts'
import { planFleetRound } from '../../../core/schedule/planFleetRound.ts'
import { randomWords } from '../../../core/schedule/randomWords.ts'
import type { FleetRound } from '../../../ports/store.ts'
import type { FleetDeps, FleetRules } from './fleet.ts'

/** Opens the round after `last` if it is due. Several validators may try: the store lets one of them. */
export async function openFleetRound(
  last: FleetRound | null,
  deps: FleetDeps,
  rules: FleetRules,
  signal: AbortSignal,
): Promise<void> {
  const due = await dueRound(last, deps, rules, signal)
  if (due === null) return
  const { store, randomness, log, live } = deps
  const boxes = await store.fleet()
  const words = randomWords(randomness.bytes(32))
  const jobs = planFleetRound({
    round: due.number,
    boxes,
    maxDelayMs: rules.maxDelayMs,
    cohortSize: rules.cohortSize,
    probeUntilMs: rules.probes ? rules.roundEveryMs : 0,
    words,
  })
  if (!(await store.openRound({ ...due, jobs }))) return
  log.info('round opened', { round: due.number, boxes: boxes.length, jobs: jobs.length })
  deps.metrics.set('touchstone_round_number', due.number)
  live.publish({ type: 'round', round: due.number, jobs: jobs.length })
}

/** `last` was read before it is asked: a round that another validator opens in between must not be followed at once. */
async function dueRound(last: FleetRound | null, { store, chain }: FleetDeps, rules: FleetRules, signal: AbortSignal) {
  const height = chain && (await chain.height(signal))
  const roundAt = (at: number | null | undefined) => (at == null ? null : fleetRoundOfHeight(at, rules.blocksPerRound))
  const [before, now] = [roundAt(last?.height), roundAt(height)]
  if (before !== null && now === before) return null
  const isNext = before !== null && now === before + 1
  // A height that is further on, or behind, tells of a long rest or is false: then time decides, and no single answer of
  // a node ends the rounds (attack 156).
  if (!isNext && !(await store.roundDue(rules.roundEveryMs))) return null
  return { number: last ? last.number + 1 : Math.max(1, now ?? 1), height }
}
