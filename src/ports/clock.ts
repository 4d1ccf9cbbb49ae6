/** The only time there is. Rates come from `monotonicUs`; `wallTime` is for people and file names. */
export interface Clock {
  monotonicUs(): number
  wallTime(): Date
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>
}
