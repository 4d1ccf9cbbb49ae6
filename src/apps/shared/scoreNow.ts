import type { ScoreConfig } from '../../core/score/scoreConfig.ts'
import { shareAtAge } from '../../core/score/shareAtAge.ts'
import type { BoxSummary } from '../../ports/store.ts'

/**
 * What the score of a box is worth at this moment: a proof ages. All scores that count were earned in one window; another
 * box may have earned with the same card since (§8.16).
 */
export function scoreNow(
  { score, scoredAt, current }: Pick<BoxSummary, 'score' | 'scoredAt' | 'current'>,
  now: Date,
  decay: ScoreConfig['decay'],
): number {
  if (!current) return 0
  const ageMs = scoredAt === null ? 0 : Math.max(0, now.getTime() - Date.parse(scoredAt))
  return Math.floor(score * shareAtAge(ageMs, decay))
}
