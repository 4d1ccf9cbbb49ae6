import { type Challenge, devicesOf, openingBytes, type Part, rootCount } from '../../core/proof/challenge.ts'
import type { PartEvidence } from '../../core/proof/evidence.ts'
import type { Answer } from '../../core/wire/messages.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Randomness } from '../../ports/randomness.ts'
import type { ProverSession } from './proverSession.ts'
import { answerOrReject, Rejection, rootOrReject } from './rejection.ts'

export interface ConductInputs {
  readonly session: ProverSession
  readonly challenge: Challenge
  /** One per part; their hashes are already in the challenge. */
  readonly nonces: readonly Uint8Array[]
  readonly clock: Clock
  readonly randomness: Randomness
  readonly onProgress?: (progress: Progress) => void
  /** Awaited right before a part's clock starts: boxes of one cohort go on together (§8). */
  readonly beforeStart?: (part: number, challenge: Challenge) => Promise<void>
}

export interface Progress {
  readonly part: number
  readonly phase: 'rounds' | 'passes' | 'openings'
  readonly device: number
  readonly done: number
  readonly of: number
}

/** One part from S_p to the last opening. */
export class PartConductor {
  readonly #inputs: ConductInputs
  readonly #p: number
  readonly #part: Part
  readonly #devices: readonly number[]
  readonly #signal: AbortSignal
  readonly #roots = new Map<number, Uint8Array[]>()
  readonly #arrivals = new Map<number, number[]>()
  readonly #openings = new Map<number, Uint8Array>()
  #t0Us = 0

  constructor(inputs: ConductInputs, p: number, signal: AbortSignal) {
    this.#inputs = inputs
    this.#p = p
    this.#part = inputs.challenge.parts[p]!
    this.#devices = devicesOf(this.#part)
    this.#signal = signal
    for (const device of this.#devices) {
      this.#roots.set(device, [])
      this.#arrivals.set(device, [])
    }
  }

  get startedUs(): number {
    return this.#t0Us
  }

  async conduct(): Promise<PartEvidence> {
    const { session, randomness, nonces, challenge } = this.#inputs
    const part = this.#p
    await this.#inputs.beforeStart?.(part, challenge)
    const s = randomness.bytes(32)
    // §4.3 T0 is read before the first byte of S is written.
    this.#t0Us = await session.send({ type: 'start', part, s })
    const [device] = this.#devices
    const of = this.#part.kind === 'memory' ? this.#part.kept[device!]! : rootCount(this.#part, device!)
    this.#inputs.onProgress?.({ part, phase: 'rounds', device: device!, done: 0, of })
    const limitUs = this.#part.limitMs * 1000
    let z: Uint8Array | null = null
    let zSentUs: number | null = null
    if (this.#part.kind === 'memory') {
      await this.#collectRoots('rounds', (device) => this.#part.kept[device]!, this.#t0Us + limitUs)
      z = randomness.bytes(32)
      const sentUs = await session.send({ type: 'passes', part, z })
      zSentUs = sentUs - this.#t0Us
      await this.#collectRoots('passes', (device) => rootCount(this.#part, device), sentUs + limitUs)
    } else {
      await this.#collectRoots('rounds', (device) => rootCount(this.#part, device), this.#t0Us + limitUs)
    }
    await this.#collectOpenings(nonces[part]!)
    return { s, z, zSentUs, nonce: nonces[part]!, devices: this.#evidence() }
  }

  #evidence() {
    return this.#devices.map((device) => ({
      device,
      roots: this.#roots.get(device)!,
      arrivalsUs: this.#arrivals.get(device)!,
      openings: this.#openings.get(device)!,
    }))
  }

  async #collectRoots(
    phase: 'rounds' | 'passes',
    target: (device: number) => number,
    deadlineUs: number,
  ): Promise<void> {
    const missing = () => this.#devices.find((device) => this.#roots.get(device)!.length < target(device))
    for (let device = missing(); device !== undefined; device = missing()) {
      const event = await this.#inputs.session.next(deadlineUs, this.#signal)
      const place = { part: this.#p, device }
      if (event.kind === 'timeout')
        throw new Rejection({
          code: 'LATE_ROOT',
          ...place,
          expected: target(device),
          got: this.#roots.get(device)!.length,
        })
      const answer = rootOrReject(event, place)
      if (answer.type === 'opened')
        throw new Rejection({ code: 'UNEXPECTED_OPENING', ...place, got: this.#since(event.atUs) })
      if (answer.type !== 'root')
        throw new Rejection({ code: 'UNEXPECTED_MESSAGE', ...place, expected: 'root', got: answer.type })
      this.#takeRoot(answer, event.atUs, target)
      const done = this.#roots.get(answer.device)!.length
      this.#inputs.onProgress?.({ part: this.#p, phase, device: answer.device, done, of: target(answer.device) })
    }
  }

  /** Order, device and count are ours: a root out of place is refused whatever it holds (attacks 1, 11). */
  #takeRoot(root: Extract<Answer, { type: 'root' }>, atUs: number, target: (device: number) => number): void {
    const roots = this.#roots.get(root.device)
    const misplaced =
      root.part !== this.#p || !roots || root.index !== roots.length || roots.length >= target(root.device)
    if (misplaced)
      throw new Rejection({
        code: 'UNEXPECTED_ROOT',
        part: this.#p,
        device: root.device,
        expected: roots ? `root ${roots.length} of ${target(root.device)}` : 'no root of this device',
        got: `root ${root.index} of part ${root.part} at ${this.#since(atUs)}`,
      })
    roots.push(root.root)
    this.#arrivals.get(root.device)!.push(atUs - this.#t0Us)
  }

  async #collectOpenings(nonce: Uint8Array): Promise<void> {
    const { session, challenge } = this.#inputs
    const sentUs = await session.send({ type: 'reveal', part: this.#p, nonce })
    const deadlineUs = sentUs + challenge.parts[this.#p]!.openLimitMs * 1000
    while (this.#openings.size < this.#devices.length) {
      const event = await session.next(deadlineUs, this.#signal)
      const place = { part: this.#p }
      if (event.kind === 'timeout') throw new Rejection({ code: 'LATE_OPENING', ...place })
      const answer = answerOrReject(event, place)
      if (answer.type === 'root')
        throw new Rejection({
          code: 'UNEXPECTED_ROOT',
          ...place,
          device: answer.device,
          got: `one more at ${this.#since(event.atUs)}`,
        })
      if (answer.type !== 'opened')
        throw new Rejection({ code: 'UNEXPECTED_MESSAGE', ...place, expected: 'openings', got: answer.type })
      const known =
        this.#devices.includes(answer.device) && !this.#openings.has(answer.device) && answer.part === this.#p
      if (!known || event.atUs < sentUs)
        throw new Rejection({
          code: 'UNEXPECTED_OPENING',
          ...place,
          device: answer.device,
          got: this.#since(event.atUs),
        })
      this.#takeOpenings(answer)
      this.#inputs.onProgress?.({
        part: this.#p,
        phase: 'openings',
        device: answer.device,
        done: this.#openings.size,
        of: this.#devices.length,
      })
    }
  }

  /** The length is ours: megabytes nobody asked for are not even kept (attack 43). */
  #takeOpenings({ device, paths }: Extract<Answer, { type: 'opened' }>): void {
    const expected = this.#part.openings * openingBytes(this.#inputs.challenge, this.#p, device)
    if (paths.length !== expected)
      throw new Rejection({ code: 'WRONG_OPENING_SIZE', part: this.#p, device, expected, got: paths.length })
    this.#openings.set(device, paths)
  }

  #since = (atUs: number): string => `${((atUs - this.#t0Us) / 1e6).toFixed(3)} s after the start`
}
