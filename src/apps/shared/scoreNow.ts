import type { ScoreConfig } from '../../core/score/scoreConfig.ts'
import { shareAtAge } from '../../core/score/shareAtAge.ts'
import type { BoxSummary } from '../../ports/store.ts'

/** What the score of a box is worth at this moment: a proof ages. */
export function scoreNow(
  { score, scoredAt }: Pick<BoxSummary, 'score' | 'scoredAt'>,
  now: Date,
  decay: ScoreConfig['decay'],
): number {
  const ageMs = scoredAt === null ? 0 : Math.max(0, now.getTime() - Date.parse(scoredAt))
  return Math.floor(score * shareAtAge(ageMs, decay))
}
