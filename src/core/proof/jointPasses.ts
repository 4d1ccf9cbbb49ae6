import { nextPass } from './seeds.ts'

const HEAD_BYTES = 8
const ROOT_BYTES = 32
/** Nobody is more than one pass ahead of anybody. */
const SLOTS = 2

/**
 * §7: passes of several devices follow from each other's: none begins its next one before all have committed to this one
 * (attack 465). Lies in shared memory, since drivers may run each device in a thread of its own.
 */
export class JointPasses {
  readonly devices: number
  readonly shared: SharedArrayBuffer
  readonly #count: Int32Array
  #waiting: { readonly pass: number; readonly resolve: () => void }[] = []

  constructor(devices: number, shared = new SharedArrayBuffer(HEAD_BYTES + SLOTS * devices * ROOT_BYTES)) {
    this.devices = devices
    this.shared = shared
    this.#count = new Int32Array(shared, 0, 1)
  }

  /** Q of a device in a pass. */
  put(place: number, pass: number, root: Uint8Array): void {
    this.#root(place, pass).set(root)
    Atomics.add(this.#count, 0, 1)
    Atomics.notify(this.#count, 0)
    const ready = this.#waiting.filter((one) => this.isOver(one.pass))
    this.#waiting = this.#waiting.filter((one) => !ready.includes(one))
    for (const { resolve } of ready) resolve()
  }

  isOver = (pass: number): boolean => Atomics.load(this.#count, 0) >= (pass + 1) * this.devices

  /** Blocks this thread until all have put their roots of a pass, or for so long. */
  waitFor(pass: number, ms: number): boolean {
    const seen = Atomics.load(this.#count, 0)
    if (!this.isOver(pass)) Atomics.wait(this.#count, 0, seen, ms)
    return this.isOver(pass)
  }

  /** For devices that are served by one thread. */
  async over(pass: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    if (this.isOver(pass)) return
    await new Promise<void>((resolve, reject) => {
      const stop = () => reject(signal.reason)
      signal.addEventListener('abort', stop, { once: true })
      this.#waiting.push({
        pass,
        resolve: () => {
          signal.removeEventListener('abort', stop)
          resolve()
        },
      })
    })
  }

  /** Z of the next pass, once this one is over. */
  next(z: Uint8Array, pass: number): Uint8Array {
    return nextPass(z, ...Array.from({ length: this.devices }, (_, place) => this.#root(place, pass).slice()))
  }

  #root(place: number, pass: number): Uint8Array {
    return new Uint8Array(this.shared, HEAD_BYTES + ((pass % SLOTS) * this.devices + place) * ROOT_BYTES, ROOT_BYTES)
  }
}
