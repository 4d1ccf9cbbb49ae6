import { concatBytes } from '../../src/core/bytes/bytes.ts'
import { MAX_MARKS, stepBytes } from '../../src/core/params/hostParts.ts'
import { laneOf, laneStart } from '../../src/drivers/host/hostWalk.ts'
import type { HostLanes, StoreTask, WalkTask } from '../../src/ports/hostLanes.ts'
import { rounds } from './inlineWalkChecker.ts'
import type { VirtualClock } from './virtualClock.ts'

/** Lanes that make so many bytes a second of virtual time each, and compute their marks only when they are halted. */
export class VirtualLanes implements HostLanes {
  readonly clock: VirtualClock
  readonly bytesPerSec: (task: StoreTask) => number
  protected stored: StoreTask | null = null
  protected walking: (WalkTask & { readonly fromUs: number }) | null = null

  constructor(clock: VirtualClock, bytesPerSec: (task: StoreTask) => number) {
    this.clock = clock
    this.bytesPerSec = bytesPerSec
  }

  async store(task: StoreTask): Promise<{ readonly pastCache: boolean }> {
    this.stored = task
    return { pastCache: true }
  }

  async walk(task: WalkTask): Promise<void> {
    this.walking = { ...task, fromUs: this.clock.monotonicUs() }
  }

  async halt(): Promise<readonly Uint8Array[]> {
    const { fromUs, lanes, stride } = this.walking!
    const seconds = (this.clock.monotonicUs() - fromUs) / 1e6
    const steps = (seconds * this.bytesPerSec(this.stored!)) / stepBytes(this.stored!.target)
    const marks = Math.min(MAX_MARKS, Math.floor(steps / stride))
    return Array.from({ length: lanes }, (_, lane) => this.lane(lane, marks))
  }

  async close(): Promise<void> {}

  protected lane(lane: number, marks: number): Uint8Array {
    const { nonce, stride } = this.walking!
    const walk = laneOf({ ...this.stored!, nonce, lane }, rounds)
    let at = laneStart(nonce, lane)
    return concatBytes(
      ...Array.from({ length: marks }, () => {
        at = walk(at, stride)
        return at
      }),
    )
  }
}
