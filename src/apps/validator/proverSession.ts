import { decodeJson } from '../../core/bytes/decodeJson.ts'
import { DecodeError } from '../../core/bytes/reader.ts'
import { details } from '../../core/inventory/inventory.ts'
import { encodeFrame, FrameDecoder } from '../../core/wire/frames.ts'
import {
  ANSWERS,
  type Answer,
  type HostAnswer,
  type HostOrder,
  isHostAnswer,
  isHostOrder,
  type Order,
} from '../../core/wire/messages.ts'
import type { Clock } from '../../ports/clock.ts'
import type { ProverEnd, ProverProcess } from '../../ports/remoteBox.ts'
import { within } from '../shared/within.ts'

/** What happened next on the line, with the validator's own time of it. */
export type Event =
  | { readonly kind: 'answer'; readonly answer: Answer; readonly atUs: number }
  | { readonly kind: 'malformed'; readonly what: string; readonly atUs: number }
  | { readonly kind: 'ended'; readonly atUs: number }
  | { readonly kind: 'timeout'; readonly atUs: number }

/** An answer of a host part (§12), which comes beside those of the cards. */
export interface Answered {
  readonly answer: HostAnswer
  readonly atUs: number
}

/** Decoded messages waiting for us; past this the transport is left to push back, so memory stays flat. */
const MAX_WAITING = 256

/** And what they hold (attack 446): openings of 32 cards in the deepest trees are 6.8 MB, and so is the largest message. */
const MAX_WAITING_BYTES = 8 * 2 ** 20

/** Our orders are a few kilobytes: a line that cannot take one in this time is as good as silent. */
const LONGEST_WRITE_MS = 30_000

/** From the end of its output to the end of a prover. */
const LONGEST_END_MS = 2_000

/**
 * One prover on the line. Bytes are stamped when they arrive, not when they are read, and nothing of what a prover
 * writes can make the queue grow beyond MAX_WAITING messages, or by more than one beyond MAX_WAITING_BYTES.
 */
export class ProverSession {
  readonly #process: ProverProcess
  readonly #clock: Clock
  readonly #queue: Event[] = []
  #waitingBytes = 0
  readonly #telemetry: { device: number; sample: Uint8Array }[] = []
  #telemetryBytes = 0
  readonly #sinceUs: number
  #unasked = 0
  /** Host orders that were not answered. */
  #hostOrders = 0
  #onHost: ((answer: Answered | null) => void) | null = null
  #wakeReader = () => {}
  #wakePump = () => {}
  #ended = false
  #closed = false
  /** What went wrong on our side of the line. */
  #ours: { readonly error: unknown } | null = null

  constructor(process: ProverProcess, clock: Clock) {
    this.#process = process
    this.#clock = clock
    this.#sinceUs = clock.monotonicUs()
    void this.#pump()
  }

  /** Samples the prover sent about its cards: claims. */
  get telemetry(): readonly { readonly device: number; readonly sample: Uint8Array }[] {
    return this.#telemetry
  }

  forgetTelemetry(): void {
    this.#telemetry.length = 0
    this.#telemetryBytes = 0
  }

  /** When the bytes were handed over; a prover that is gone shows in `next`, not here. */
  async send(order: Order): Promise<number> {
    const atUs = this.#clock.monotonicUs()
    if (isHostOrder(order)) this.#hostOrders++
    const written = this.#process.write(encodeFrame(order)).catch(() => {})
    // A box that stops reading must not hold us: the deadline of the answer goes on regardless (attack 40).
    await within(this.#clock, LONGEST_WRITE_MS, written)
    return atUs
  }

  /** One host order and its answer; null where none came in time. Whatever else a box sends of this kind is dropped. */
  async askHost(order: HostOrder, withinMs: number, signal: AbortSignal): Promise<Answered | null> {
    const answered = new Promise<Answered | null>((resolve) => {
      this.#onHost = resolve
    })
    try {
      await this.send(order)
      const answer = this.#closed ? null : await within(this.#clock, withinMs, answered, signal)
      signal.throwIfAborted()
      if (answer === null) this.#throwOurs()
      return answer
    } finally {
      this.#onHost = null
    }
  }

  /** The next thing that happens, or `timeout` at the deadline. */
  async next(deadlineUs: number, signal: AbortSignal): Promise<Event> {
    signal.throwIfAborted()
    if (this.#queue.length === 0) await this.#waitUntil(deadlineUs, signal)
    // What came in time may lie behind whatever kept this thread busy until now (attack 447).
    if (this.#queue.length === 0) await this.#clock.sleep(0, signal).catch(() => {})
    signal.throwIfAborted()
    if (this.#queue.length === 0) return { kind: 'timeout', atUs: this.#clock.monotonicUs() }
    // The end of the line stays readable for ever.
    const event = this.#queue[0]!
    if (event.kind === 'answer') {
      this.#queue.shift()
      this.#waitingBytes -= heldBy(event.answer)
    } else this.#throwOurs()
    this.#wakePump()
    return event
  }

  /** A box is not blamed for a fault of ours (attack 446). */
  #throwOurs(): void {
    if (this.#ours) throw this.#ours.error
  }

  /** Until something is in the queue, or the deadline: one timer, however often bytes trickle in (attack 12). */
  async #waitUntil(deadlineUs: number, signal: AbortSignal): Promise<void> {
    const arrived = new Promise<void>((resolve) => {
      this.#wakeReader = resolve
    })
    // A timer may be capped or fire a little early, so the clock has the last word.
    for (;;) {
      const leftMs = (deadlineUs - this.#clock.monotonicUs()) / 1000
      if (leftMs <= 0 || this.#queue.length > 0 || signal.aborted) return
      await within(this.#clock, leftMs, arrived, signal)
    }
  }

  /** How the prover ended, or null where it closed its output and goes on. */
  end(): Promise<ProverEnd | null> {
    return within(this.#clock, LONGEST_END_MS, this.#process.ended)
  }

  stop(): Promise<void> {
    this.#ended = true
    this.#wakePump()
    return this.#process.stop()
  }

  async #pump(): Promise<void> {
    const decoder = new FrameDecoder(ANSWERS)
    try {
      for await (const chunk of this.#process.output) {
        if (!this.#take(decoder, chunk)) return
        while (this.#isFull() && !this.#ended)
          await new Promise<void>((resolve) => {
            this.#wakePump = resolve
          })
        if (this.#ended) return
      }
    } catch {
      // The line broke: what went wrong with the bytes themselves is told by #take.
    }
    this.#close({ kind: 'ended', atUs: this.#clock.monotonicUs() })
  }

  #isFull(): boolean {
    return this.#queue.length > MAX_WAITING || this.#waitingBytes > MAX_WAITING_BYTES
  }

  /** Whether the line may go on after these bytes. */
  #take(decoder: FrameDecoder, chunk: Uint8Array): boolean {
    const atUs = this.#process.cameUs?.() ?? this.#clock.monotonicUs()
    try {
      for (const message of decoder.push(chunk)) this.#arrive(message as Answer, atUs)
    } catch (error) {
      const isTheirs = error instanceof DecodeError
      if (!isTheirs) this.#ours = { error }
      const endedUs = this.#clock.monotonicUs()
      this.#close(
        isTheirs ? { kind: 'malformed', what: error.message, atUs: endedUs } : { kind: 'ended', atUs: endedUs },
      )
      return false
    }
    if (this.#queue.length > 0) this.#wakeReader()
    return true
  }

  #arrive(answer: Answer, atUs: number): void {
    if (isHostAnswer(answer)) {
      // Each takes 50 times the time of another message (attack 429).
      if (--this.#hostOrders < 0) throw unasked()
      this.#onHost?.({ answer, atUs })
    } else if (answer.type === 'telemetry') this.#keepTelemetry(answer, atUs)
    else {
      this.#queue.push({ kind: 'answer', answer, atUs })
      this.#waitingBytes += heldBy(answer)
    }
  }

  #keepTelemetry({ device, sample }: { readonly device: number; readonly sample: Uint8Array }, atUs: number): void {
    this.#boundUnasked(atUs)
    if (this.#telemetryBytes + sample.length >= MAX_TELEMETRY_BYTES) return
    this.#telemetryBytes += sample.length + TELEMETRY_OVERHEAD_BYTES
    this.#telemetry.push({ device, sample })
  }

  /** What nobody waits for is not held back by the line, and every message takes the time of all boxes we talk to. */
  #boundUnasked(atUs: number): void {
    const most = MOST_UNASKED + (UNASKED_PER_SECOND * (atUs - this.#sinceUs)) / 1e6
    if (++this.#unasked > most) throw unasked()
  }

  #close(event: Event): void {
    this.#onHost?.(null)
    this.#closed = true
    this.#queue.push(event)
    this.#wakeReader()
  }
}

/** Bytes that a message keeps while it waits. */
const heldBy = (answer: Answer): number =>
  Object.values(answer).reduce<number>((sum, value) => sum + (value instanceof Uint8Array ? value.length : 0), 0)

const unasked = () => new DecodeError('more messages than anyone asked for')

/** Attack 147. 32 devices tell of themselves twice a second each: four times as much, and what a slow line held up. */
const UNASKED_PER_SECOND = 256
const MOST_UNASKED = 16_384

/** About an hour of one sample a second from one card; what is beyond is dropped, it is only claims. */
const MAX_TELEMETRY_BYTES = 2 * 2 ** 20

/** What keeping a sample costs besides its bytes. */
const TELEMETRY_OVERHEAD_BYTES = 256

/** Claims of the cards about themselves during the run; what is not well formed is left out, it proves nothing anyway. */
export async function readTelemetry(
  samples: readonly { readonly device: number; readonly sample: Uint8Array }[],
  pause: () => Promise<void>,
): Promise<unknown[]> {
  const step = Math.max(1, Math.ceil(samples.length / MOST_SAMPLES))
  const read: unknown[] = []
  for (const [i, { device, sample }] of samples.filter((_, at) => at % step === 0).entries()) {
    // Others are heard in between (attack 433).
    if (i % SAMPLES_AT_ONCE === 0) await pause()
    try {
      read.push({ device, ...decodeJson(sample, details, 'telemetry') })
    } catch {
      // Left out.
    }
  }
  return read
}

const MOST_SAMPLES = 256
const SAMPLES_AT_ONCE = 16
