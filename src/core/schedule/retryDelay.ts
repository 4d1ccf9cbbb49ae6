import type { BoxState, Outcome } from './boxState.ts'

export interface RetryRules {
  /** Further tries after the first. */
  readonly limit: number
  readonly intervalMs: number
}

/**
 * Milliseconds until the next try with new seeds, or null when the job is over. `tries` counts finished ones before this.
 * Who has already missed a window it still owes waits for the round that puts it there.
 */
export function retryDelay(
  outcome: Outcome,
  tries: number,
  { owes, missed }: Pick<BoxState, 'owes' | 'missed'>,
  { limit, intervalMs }: RetryRules,
): number | null {
  const owing = owes.length > 0 && missed > 1
  return outcome === 'accepted' || tries >= limit || owing ? null : intervalMs
}

const FIRST_REST_MS = 300_000
const LONGEST_REST_MS = 7_200_000

/** How long a box that has kept us waiting `stalls` times in a row is left alone: twice as long each time, at most two hours. */
export const restAfter = (stalls: number): number | null =>
  stalls === 0 ? null : Math.min(FIRST_REST_MS * 2 ** (stalls - 1), LONGEST_REST_MS)
