import type { Outcome } from './boxState.ts'

export interface RetryRules {
  /** Further tries after the first. */
  readonly limit: number
  readonly intervalMs: number
}

/** Milliseconds until the next try with new seeds, or null when the job is over. `tries` counts finished ones before this. */
export const retryDelay = (outcome: Outcome, tries: number, { limit, intervalMs }: RetryRules): number | null =>
  outcome === 'accepted' || tries >= limit ? null : intervalMs

const FIRST_REST_MS = 300_000
const LONGEST_REST_MS = 7_200_000

/** How long a box that has kept us waiting `stalls` times in a row is left alone: twice as long each time, at most two hours. */
export const restAfter = (stalls: number): number | null =>
  stalls === 0 ? null : Math.min(FIRST_REST_MS * 2 ** (stalls - 1), LONGEST_REST_MS)
