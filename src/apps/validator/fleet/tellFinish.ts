import { type Finish, type StoredResult, type TakenJob, waitsForWindow } from '../../../ports/store.ts'
import type { FleetDeps } from './fleet.ts'

/** A stored result, for those who count, read the log or watch. */
export function tellFinish(
  { boxId, round, kind, attempt, box: before }: TakenJob,
  finish: Finish,
  { id: resultId, isOfBox }: StoredResult,
  { metrics, log, live }: Pick<FleetDeps, 'metrics' | 'log' | 'live'>,
): void {
  const { result, box } = finish
  const { outcome, code, seconds, claimVerdict, marks } = result
  metrics.add('touchstone_jobs_total', { kind, outcome })
  metrics.observe('touchstone_run_seconds', seconds, { kind })
  if (outcome === 'rejected') metrics.add('touchstone_rejections_total', { code: code ?? 'none' })
  else if (outcome !== 'accepted') metrics.add('touchstone_faults_total', { code: code ?? 'none' })
  // Until its window is over it is no score, and it may never be one (attack 363). Of a box that was changed it is none.
  const waiting = isOfBox && waitsForWindow(finish) ? box.score : null
  const score = isOfBox && waiting === null && (box.scored || box.score < before.score) ? box.score : null
  const told = { box: boxId, round, kind, attempt, outcome, code, claimVerdict, score, waiting, seconds }
  if (outcome !== 'accepted') log.warn('box not verified', told)
  else if (claimVerdict === null || claimVerdict === 'matches') log.info('box verified', told)
  else log.warn('box is not as claimed', told)
  for (const { what } of marks) log.warn('box changed', { box: boxId, what })
  live.publish({ type: 'finished', boxId, round, kind, outcome, code, claimVerdict, score, waiting, resultId })
}
