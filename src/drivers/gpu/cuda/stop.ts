import type { TouchstoneError } from '../../../ports/errors.ts'
import { fault } from './faults.ts'

/** How a running part learns that it is to end, and waits for the card without spinning. Shared with the main thread. */
export class Stop {
  readonly flag: Int32Array

  constructor(shared: SharedArrayBuffer = new SharedArrayBuffer(4)) {
    this.flag = new Int32Array(shared)
  }

  request(): void {
    Atomics.store(this.flag, 0, 1)
    Atomics.notify(this.flag, 0)
  }

  clear(): void {
    Atomics.store(this.flag, 0, 0)
  }

  get requested(): boolean {
    return Atomics.load(this.flag, 0) !== 0
  }

  pause(milliseconds: number): void {
    Atomics.wait(this.flag, 0, 0, milliseconds)
  }
}

export const stopped = (card: number): TouchstoneError => fault('GPU_RUN_STOPPED', { card })
