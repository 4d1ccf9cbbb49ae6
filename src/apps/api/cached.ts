import type { Clock } from '../../ports/clock.ts'

/** One answer for all who ask within `milliseconds`; those who ask while it is being made wait for the same one. */
export function cached<T>(make: () => Promise<T>, milliseconds: number, clock: Pick<Clock, 'monotonicUs'>) {
  let answer: Promise<T> | null = null
  let untilUs = 0
  return (): Promise<T> => {
    if (answer && clock.monotonicUs() < untilUs) return answer
    untilUs = clock.monotonicUs() + milliseconds * 1000
    const made = make()
    answer = made
    made.catch(() => {
      if (answer === made) answer = null
    })
    return made
  }
}
