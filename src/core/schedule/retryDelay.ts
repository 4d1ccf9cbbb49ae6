import type { Outcome } from './boxState.ts'

export interface RetryRules {
  /** Further tries after the first. */
  readonly limit: number
  readonly intervalMs: number
}

/** Milliseconds until the next try with new seeds, or null when the job is over. `tries` counts finished ones before this. */
export function retryDelay(outcome: Outcome, tries: number, { limit, intervalMs }: RetryRules): number | null {
  return outcome === 'accepted' || tries >= limit ? null : intervalMs
}
