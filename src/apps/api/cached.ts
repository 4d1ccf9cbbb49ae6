import type { Clock } from '../../ports/clock.ts'

/**
 * One answer for all who ask. When it is older than `milliseconds`, a new one is made once, and until it is there
 * everybody gets the old one: nobody waits but the very first.
 */
export function cached<T>(make: () => Promise<T>, milliseconds: number, clock: Pick<Clock, 'monotonicUs'>) {
  let answer: { readonly value: T; readonly untilUs: number } | null = null
  let making: Promise<T> | null = null
  const renew = (): Promise<T> => {
    making ??= make()
      .then((value) => {
        answer = { value, untilUs: clock.monotonicUs() + milliseconds * 1000 }
        return value
      })
      .finally(() => {
        making = null
      })
    return making
  }
  return async (): Promise<T> => {
    if (!answer) return await renew()
    if (clock.monotonicUs() >= answer.untilUs) renew().catch(() => {})
    return answer.value
  }
}
