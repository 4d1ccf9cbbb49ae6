/** Long work that yields between its slices, so that its caller can do something else in between. */
export type Slices<T> = Generator<void, T, void>

export function workAtOnce<T>(slices: Slices<T>): T {
  for (;;) {
    const { done, value } = slices.next()
    if (done) return value
  }
}

export async function workInSlices<T>(slices: Slices<T>, pause: () => Promise<void>): Promise<T> {
  for (;;) {
    const { done, value } = slices.next()
    if (done) return value
    await pause()
  }
}
