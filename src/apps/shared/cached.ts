import type { Clock } from '../../ports/clock.ts'

/**
 * One answer for all who ask. When it is older than `milliseconds`, a new one is made once, and until it is there
 * everybody gets the old one, so that nobody waits while many ask. An answer twice that old serves nobody: who asks
 * after a quiet hour must not get what was true an hour ago.
 */
export function cached<T>(make: () => Promise<T>, milliseconds: number, clock: Pick<Clock, 'monotonicUs'>) {
  let answer: { readonly value: T; readonly madeUs: number } | null = null
  let making: Promise<T> | null = null
  const renew = (): Promise<T> => {
    making ??= make()
      .then((value) => {
        answer = { value, madeUs: clock.monotonicUs() }
        return value
      })
      .finally(() => {
        making = null
      })
    return making
  }
  return async (): Promise<T> => {
    const ageUs = answer ? clock.monotonicUs() - answer.madeUs : Number.POSITIVE_INFINITY
    if (!answer || ageUs >= 2 * milliseconds * 1000) return await renew()
    if (ageUs >= milliseconds * 1000) renew().catch(() => {})
    return answer.value
  }
}
