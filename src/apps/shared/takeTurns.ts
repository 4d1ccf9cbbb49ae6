/** Lets one caller at a time do its work. */
export type InTurn = <T>(work: () => Promise<T>) => Promise<T>

/** For work that keeps this thread busy: one after the other, and in the pause before each others are heard. */
export function takeTurns(pause: () => Promise<void>): InTurn {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const turn = last.then(pause).then(work)
    last = turn.catch(() => {})
    return turn
  }
}
