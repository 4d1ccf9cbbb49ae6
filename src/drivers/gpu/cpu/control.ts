/** A few words shared by all threads of a device. */
const CANCEL = 0
const STOP = 1
const ARRIVED = 2
const GENERATION = 3
const NEXT = 4

export const CONTROL_BYTES = 64

export interface Control {
  cancel(): void
  /** Before a new job: nothing is cancelled, nobody waits, no work is taken. */
  reset(): void
  readonly cancelled: boolean
  /** True for every thread alike, because it is decided at a barrier. */
  readonly stopped: boolean
  /** The next piece of work nobody has taken, counted from 0 since the last barrier. */
  take(): number
  /** Waits for all threads. The last to arrive does `alone` while the others wait, and clears the work counter. */
  barrier(threads: number, alone?: () => void): void
}

export function openControl(buffer: SharedArrayBuffer): Control {
  const words = new Int32Array(buffer)
  return {
    cancel: () => void Atomics.store(words, CANCEL, 1),
    reset: () => {
      for (let i = 0; i < words.length; i++) Atomics.store(words, i, 0)
    },
    get cancelled() {
      return Atomics.load(words, CANCEL) !== 0
    },
    get stopped() {
      return Atomics.load(words, STOP) !== 0
    },
    take: () => Atomics.add(words, NEXT, 1),
    barrier: (threads, alone) => barrier(words, threads, alone),
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
