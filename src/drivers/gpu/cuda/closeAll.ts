/**
 * Every step once, whatever the others did; then the first fault. A lost card refuses to give back, and what it did give
 * back must not be given back again: the driver's own memory would break.
 */
export function closeAll(steps: readonly (() => void)[]): void {
  const faults: unknown[] = []
  for (const step of steps) {
    try {
      step()
    } catch (error) {
      faults.push(error)
    }
  }
  if (faults.length > 0) throw faults[0]
}

/** `work`, then every step; where the work failed, its fault is the one that counts. */
export function thenClose<T>(work: () => T, steps: () => readonly (() => void)[]): T {
  let result: T
  try {
    result = work()
  } catch (error) {
    try {
      closeAll(steps())
    } catch {
      // A lost card gives nothing back, and the first fault says why.
    }
    throw error
  }
  closeAll(steps())
  return result
}
