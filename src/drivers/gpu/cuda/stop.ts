import { TouchstoneError } from '../../../ports/errors.ts'

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

export const stopped = (card: number): TouchstoneError =>
  new TouchstoneError(
    { code: 'GPU_RUN_STOPPED', card },
    {
      message: `card ${card}: the run was stopped before its last root (deadline, or the caller gave up)`,
      blame: 'prover',
      retry: true,
      nextStep: 'Run again; if it stops again, ask for fewer rounds or a smaller size.',
    },
  )
