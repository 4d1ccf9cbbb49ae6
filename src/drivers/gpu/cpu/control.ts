/** A few words shared by all threads of a device. */
const CANCEL = 0
const STOP = 1
const ARRIVED = 2
const GENERATION = 3
const NEXT = 4

export const CONTROL_BYTES = 64

export type Control = ReturnType<typeof openControl>

export function openControl(buffer: SharedArrayBuffer) {
  const words = new Int32Array(buffer)
  return {
    cancel: () => void Atomics.store(words, CANCEL, 1),
    /** Before a new job: nothing is cancelled, nobody waits, no work is taken. */
    reset: () => {
      for (let i = 0; i < words.length; i++) Atomics.store(words, i, 0)
    },
    get cancelled(): boolean {
      return Atomics.load(words, CANCEL) !== 0
    },
    /** True for every thread alike, because it is decided at a barrier. */
    get stopped(): boolean {
      return Atomics.load(words, STOP) !== 0
    },
    /** The next piece of work nobody has taken, counted from 0 since the last barrier. */
    take: () => Atomics.add(words, NEXT, 1),
    /** Waits for all threads. The last to arrive does `alone` while the others wait, and clears the work counter. */
    barrier: (threads: number, alone?: () => void) => barrier(words, threads, alone),
  }
}

function barrier(words: Int32Array, threads: number, alone?: () => void): void {
  const generation = Atomics.load(words, GENERATION)
  if (Atomics.add(words, ARRIVED, 1) === threads - 1) {
    Atomics.store(words, STOP, Atomics.load(words, CANCEL))
    if (Atomics.load(words, STOP) === 0) alone?.()
    Atomics.store(words, NEXT, 0)
    Atomics.store(words, ARRIVED, 0)
    Atomics.add(words, GENERATION, 1)
    Atomics.notify(words, GENERATION)
    return
  }
  while (Atomics.load(words, GENERATION) === generation) Atomics.wait(words, GENERATION, generation)
}
