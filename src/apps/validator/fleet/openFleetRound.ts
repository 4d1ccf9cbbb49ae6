import { fleetRoundOfHeight } from '../../../core/schedule/fleetRoundOfHeight.ts'
import { planFleetRound } from '../../../core/schedule/planFleetRound.ts'
import { randomWords } from '../../../core/schedule/randomWords.ts'
import type { FleetDeps, FleetRules } from './fleet.ts'

/** Opens the round that is due, if one is. Several validators may try: the store lets one of them. */
export async function openFleetRound(deps: FleetDeps, rules: FleetRules, signal: AbortSignal): Promise<void> {
  const due = await dueRound(deps, rules, signal)
  if (due === null) return
  const { store, randomness, log, live } = deps
  const boxes = await store.fleet()
  const jobs = planFleetRound({
    round: due.number,
    boxes,
    maxDelayMs: rules.maxDelayMs,
    cohortSize: rules.cohortSize,
    probeUntilMs: rules.probes ? rules.roundEveryMs : 0,
    words: randomWords(randomness.bytes(32)),
  })
  if (!(await store.openRound({ ...due, jobs }))) return
  log.info('round opened', { round: due.number, boxes: boxes.length, jobs: jobs.length })
  deps.metrics.set('touchstone_round_number', due.number)
  live.publish({ type: 'round', round: due.number, jobs: jobs.length })
}

async function dueRound({ store, chain }: FleetDeps, rules: FleetRules, signal: AbortSignal) {
  // The number is read before the question: a round that another validator opens in between must not be followed at once.
  const last = (await store.lastRound())?.number ?? 0
  if (chain === null) return (await store.roundDue(rules.roundEveryMs)) ? { number: last + 1, height: null } : null
  const height = await chain.height(signal)
  const number = fleetRoundOfHeight(height, rules.blocksPerRound)
  return number > last ? { number, height } : null
}
