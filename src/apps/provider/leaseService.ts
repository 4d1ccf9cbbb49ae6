import { toBase64 } from '../../core/bytes/base64.ts'
import type { Signer } from '../../core/bytes/ed25519.ts'
import { toHex } from '../../core/bytes/hex.ts'
import { DecodeError } from '../../core/bytes/reader.ts'
import {
  applyLeaseEvent,
  holderOf,
  type Lease,
  type LeaseBook,
  type LeaseEvent,
  type LeasePurpose,
  MAX_VERIFY_SECONDS,
} from '../../core/lease/leaseBook.ts'
import {
  decodeAsk,
  encodeAnswer,
  isFresh,
  type LeaseAnswerMessage,
  type LeaseAsk,
  MAX_CLOCK_SKEW_MS,
  type Signed,
} from '../../core/lease/leaseMessages.ts'
import { parseSshPublicKey, type SshPublicKey } from '../../core/lease/sshPublicKey.ts'
import type { Clock } from '../../ports/clock.ts'
import { TouchstoneError } from '../../ports/errors.ts'
import type { BoxAccess, LeaseJournal, MessageChannel, SealToKey, Seat } from '../../ports/leases.ts'

export interface LeaseDeps {
  readonly signer: Signer
  readonly clock: Clock
  readonly journal: LeaseJournal
  readonly access: BoxAccess
  readonly seal: SealToKey
  /** Who may have the box, and what for. */
  readonly isAllowed: (holder: string, purpose: LeasePurpose) => boolean
  /** Whether the provider named this key, for whatever purpose: it has a place at the door. */
  readonly isNamed: (key: string) => boolean
  /** For the person who runs the provider: what validators see. */
  readonly tell: (news: LeaseNews) => void
}

/** What happened, with its facts by name. */
interface LeaseNews {
  readonly event: 'opened' | 'closed' | 'recovered' | 'answered' | 'ignored' | 'fault'
  readonly [fact: string]: string | readonly string[]
}

const TIME_OVER = 'its time is over'

/** Closing takes a moment: it begins this much early, so that access ends within the lease, not after it. */
const EARLY_MS = 300

/** Who asks for the box waits so long for others, below the minute that a validator waits for an answer. */
const MOST_WAIT_MS = { stranger: 10_000, named: 45_000 }

/** What is known of an asker whose turn has not come. */
interface Place {
  /** It was told that the box is busy. */
  isGivenUp: boolean
  /** From here on it has its answer as soon as there is one. */
  readonly begin: () => void
}

type Request = Extract<LeaseAsk, { kind: 'request' }>

type Unaddressed<Message> = Message extends unknown ? Omit<Message, 'to'> : never

/** An answer to whoever asked. */
type Answer = Unaddressed<LeaseAnswerMessage>

/**
 * One box and its leases. Every change is on disk before access opens, and access is gone before the disk forgets it; so
 * a crash at any instant leaves either nothing or something that `recover` closes.
 */
export class LeaseService {
  /** Hex key of this provider. */
  readonly key: string
  readonly #deps: LeaseDeps
  #book: LeaseBook = { leases: [] }
  /** Keys that the provider named and that wait now: strangers are told that the box is busy. */
  #namedWaiting = 0
  /** And until then, where one has waited in vain (attack 490). */
  #keptForNamedUntilMs = 0
  /** Keys that were told that the box is busy, or gave back what was never given, with the id, and how long to remember it. */
  readonly #spent = new Map<string, number>()
  #queue: Promise<unknown> = Promise.resolve()

  constructor(deps: LeaseDeps) {
    this.#deps = deps
    this.key = toHex(deps.signer.publicKey)
  }

  /** First thing after a start: closes whatever a crash left open. */
  recover(): Promise<void> {
    return this.#inTurn(async () => {
      this.#book = await this.#deps.journal.read()
      const ids = await this.#apply({ kind: 'restart', nowMs: this.#now() }, 'left open by a provider that was killed')
      if (ids.close.length > 0) this.#deps.tell({ event: 'recovered', ids: ids.close })
    })
  }

  /** Closes what has run out; called by a timer. Returns when to be called next; what failed is tried again then. */
  tick(): Promise<number | null> {
    return this.#inTurn(async () => {
      try {
        await this.#apply({ kind: 'tick', nowMs: this.#now() + EARLY_MS })
      } catch (error) {
        this.#deps.tell({ event: 'fault', code: codeOf(error) })
        return null
      }
      const holder = holderOf(this.#book)
      return holder === null ? null : holder.expiresAtMs - EARLY_MS
    })
  }

  /** The provider stops: nobody keeps access to a box that nobody watches. */
  shutDown(): Promise<void> {
    return this.#inTurn(async () => {
      await this.#apply({ kind: 'restart', nowMs: this.#now() }, 'the provider stops')
    })
  }

  /** One hostile message to one signed answer, or to null where it does not even deserve one. */
  async handle(bytes: Uint8Array, signal: AbortSignal, seat?: Seat): Promise<Uint8Array | null> {
    let ask: Signed<LeaseAsk>
    try {
      ask = decodeAsk(bytes, this.key)
    } catch (error) {
      this.#deps.tell({ event: 'ignored', why: error instanceof DecodeError ? error.message : 'undecodable' })
      return null
    }
    // Before it has to wait: a door turns out whoever says nothing for as long (attack 490).
    this.#seat(ask, seat)
    const answer = { ...(await this.#answerInTime(ask, signal)), to: ask.from }
    this.#seat(ask, seat)
    const why = answer.kind === 'refused' ? answer.code : ''
    this.#deps.tell({ event: 'answered', to: ask.from, answer: answer.kind, why })
    return encodeAnswer(answer, this.#deps.signer)
  }

  #seat(ask: Signed<LeaseAsk>, seat: Seat | undefined): void {
    if (this.#knows(ask)) seat?.known(ask.from)
    else seat?.heard()
  }

  /** Cleaning up after another takes as long as it takes: whoever asks meanwhile is told that the box is busy (attack 420). */
  async #answerInTime(ask: Signed<LeaseAsk>, signal: AbortSignal): Promise<Answer> {
    const { from, message } = ask
    if (message.kind === 'liveness') return await this.#answer(ask, signal)
    if (message.kind === 'release') {
      const released = await this.#inTurn(() => this.#answer(ask, signal))
      if (released.kind === 'refused' && this.#deps.isNamed(from)) this.#spend(from, message.id)
      return released
    }
    const act = (place: Place) => this.#answer(ask, signal, place)
    if (!this.#isOfNamed(from, message)) return await this.#waitFor(MOST_WAIT_MS.stranger, message.id, act)
    this.#namedWaiting++
    const answer = await this.#waitFor(MOST_WAIT_MS.named, message.id, act).finally(() => this.#namedWaiting--)
    // What is refused keeps nothing, and ends nothing (attack 513).
    if (answer.kind === 'busy') {
      this.#keptForNamedUntilMs = this.#now() + 1000 * MAX_VERIFY_SECONDS
      this.#spend(from, message.id)
    }
    if (answer.kind === 'granted') this.#keptForNamedUntilMs = 0
    return answer
  }

  /** Not by a request that is old, or whose id was used: anybody may send it again. */
  #isOfNamed(from: string, { id, askedAtMs }: Request): boolean {
    const isUsed = this.#spent.has(from + id) || this.#book.leases.some((lease) => lease.id === id)
    return this.#deps.isNamed(from) && isFresh(askedAtMs, this.#now()) && !isUsed
  }

  /** Whoever recorded the request would be given a lease later that nobody knows of, for as long as was asked (attack 522). */
  #spend(from: string, id: string): void {
    const nowMs = this.#now()
    for (const [old, untilMs] of this.#spent) if (untilMs < nowMs) this.#spent.delete(old)
    this.#spent.set(from + id, nowMs + 2 * MAX_CLOCK_SKEW_MS)
  }

  async #waitFor(mostMs: number, id: string, act: (place: Place) => Promise<Answer>): Promise<Answer> {
    const waiting = new AbortController()
    const place: Place = { isGivenUp: false, begin: () => waiting.abort() }
    const turn = this.#inTurn(async () => (place.isGivenUp ? this.#busy(id) : await act(place)))
    turn.catch(() => {}).finally(place.begin)
    await this.#deps.clock.sleep(mostMs, waiting.signal).catch(() => {})
    place.isGivenUp = !waiting.signal.aborted
    return place.isGivenUp ? this.#busy(id) : await turn
  }

  #busy(id: string): Answer {
    return { kind: 'busy', id, purpose: 'verify', untilMs: this.#now() + MOST_WAIT_MS.stranger }
  }

  /** Whoever holds the box or is named by the provider; a message of another time may be anybody's. */
  #knows({ from, message }: Signed<LeaseAsk>): boolean {
    if (!isFresh(message.askedAtMs, this.#now())) return false
    return holderOf(this.#book)?.holder === from || this.#deps.isNamed(from)
  }

  hello(to: string): Uint8Array {
    return encodeAnswer({ kind: 'hello', to, sentAtMs: this.#now() }, this.#deps.signer)
  }

  async #answer({ from, message }: Signed<LeaseAsk>, signal: AbortSignal, place?: Place): Promise<Answer> {
    const id = message.kind === 'liveness' ? '0'.repeat(32) : message.id
    if (!isFresh(message.askedAtMs, this.#now()))
      return refusal(id, 'STALE', 'your clock and ours differ by more than two minutes')
    if (message.kind === 'liveness')
      return { kind: 'alive', nonce: message.nonce, state: this.#state(), sentAtMs: this.#now() }
    if (message.kind === 'release') {
      const ending = { kind: 'release', id, holder: this.#mayEnd(id, from), nowMs: this.#now() } as const
      const { answer } = await this.#apply(ending, from === this.key ? 'revoked by the owner' : 'given back')
      if (answer.kind === 'refused') return refusal(id, answer.code, 'no lease of yours has this id')
      return { kind: 'released', id }
    }
    return this.#grant(from, message, signal, place)
  }

  /** In whose name a lease is ended: the provider's own key may end any, since the box is its owner's. */
  #mayEnd(id: string, from: string): string {
    const lease = this.#book.leases.find((one) => one.id === id)
    return from === this.key && lease !== undefined ? lease.holder : from
  }

  /** A leased box takes no heavy test: it answers busy, and a liveness question instead. */
  #state(): 'free' | 'verifying' | 'leased' {
    const holder = holderOf(this.#book)
    if (holder === null) return 'free'
    return holder.purpose === 'rent' ? 'leased' : 'verifying'
  }

  async #grant(from: string, message: Request, signal: AbortSignal, place?: Place): Promise<Answer> {
    const { id, purpose, seconds } = message
    if (this.#spent.has(from + id)) return refusal(id, 'ID_USED', 'ask again with a new id')
    if (!this.#deps.isAllowed(from, purpose))
      return refusal(id, 'NOT_ALLOWED', `this provider gives you no lease to ${purpose}`)
    const key = this.#usableKey(message.sshKey)
    if (key === null)
      return refusal(id, 'BAD_KEY', 'the key must be one line of ssh-ed25519 or ssh-rsa (2048 bits or more)')
    const named = this.#deps.isNamed(from) ? { over: this.#strangerHolding() } : null
    if (named === null && (this.#namedWaiting > 0 || this.#now() < this.#keptForNamedUntilMs)) return this.#busy(id)
    const asked = { id, holder: from, purpose, sshKey: key.line, seconds, named }
    const event = { kind: 'request', ...asked, nowMs: this.#now() } as const
    // Whose time is over is closed by the one who keeps time: it may take long, and may fail.
    if (applyLeaseEvent(this.#book, event).close.some((ended) => ended !== named?.over)) return this.#busy(id)
    const applied = await this.#apply(event, 'it gave way to a key that you named').catch((error) => {
      this.#deps.tell({ event: 'fault', code: codeOf(error) })
      return null
    })
    if (applied === null) return this.#busy(id)
    const { answer } = applied
    if (answer.kind === 'busy') return { ...answer, id }
    if (answer.kind === 'accepted') {
      // Whoever held it took too long to leave, and whoever asked has gone with a no.
      if (place?.isGivenUp) return await this.#takeBack(id)
      place?.begin()
      return this.#open(answer.lease, key, signal)
    }
    return refusal(id, answer.kind === 'refused' ? answer.code : 'FAULT', 'ask again with a new id or less time')
  }

  async #takeBack(id: string): Promise<Answer> {
    await this.#apply(
      { kind: 'failed', id, nowMs: this.#now() },
      'whoever asked for it had been told that the box is busy',
    )
    return this.#busy(id)
  }

  /** Who may verify because anyone may: were it not for this, whoever likes could keep the validators out that pay (attack 484). */
  #strangerHolding(): string | null {
    const lease = holderOf(this.#book)
    return lease?.purpose === 'verify' && !this.#deps.isNamed(lease.holder) ? lease.id : null
  }

  /** A key may be well spelt and still be no point of its curve or no modulus: who cannot be told gets no access either. */
  #usableKey(text: string): SshPublicKey | null {
    try {
      const key = parseSshPublicKey(text)
      this.#deps.seal(key, new Uint8Array(0))
      return key
    } catch {
      return null
    }
  }

  async #open(lease: Lease, key: SshPublicKey, signal: AbortSignal): Promise<Answer> {
    const { id, expiresAtMs } = lease
    try {
      const details = await this.#deps.access.open(lease, signal)
      const { close } = await this.#apply({ kind: 'opened', id, nowMs: this.#now() })
      if (close.includes(id)) return refusal(id, 'EXPIRED', 'opening access took longer than the lease')
      const until = new Date(expiresAtMs).toISOString()
      const { confinement } = details
      this.#deps.tell({ event: 'opened', id, purpose: lease.purpose, holder: lease.holder, until, confinement })
      const sealed = this.#deps.seal(key, new TextEncoder().encode(JSON.stringify(details)))
      return { kind: 'granted', id, expiresAtMs, sealed: toBase64(sealed) }
    } catch (error) {
      const code = codeOf(error)
      this.#deps.tell({ event: 'fault', code })
      await this.#apply({ kind: 'failed', id, nowMs: this.#now() }, 'could not be opened')
      // The one before left no room for it: nothing that the box is to blame for (attack 524).
      if (code === 'STILL_CLEARING') return this.#busy(id)
      return refusal(id, 'CANNOT_OPEN', 'access could not be opened on this box')
    }
  }

  /**
   * Access is taken away before the journal forgets it, and given only after the journal knows it. `why` is told of what
   * the event itself ends; a lease whose time is over ends by that, whatever came just then.
   */
  async #apply(event: LeaseEvent, why = TIME_OVER): Promise<ReturnType<typeof applyLeaseEvent>> {
    const step = applyLeaseEvent(this.#book, event)
    for (const id of step.close) {
      await this.#deps.access.close(id)
      const isOver = step.book.leases.some((lease) => lease.id === id && lease.state === 'expired')
      this.#deps.tell({ event: 'closed', id, why: isOver ? TIME_OVER : why })
    }
    const changed = JSON.stringify(step.book) !== JSON.stringify(this.#book)
    this.#book = step.book
    if (changed) await this.#deps.journal.write(step.book)
    return step
  }

  #now(): number {
    return this.#deps.clock.wallTime().getTime()
  }

  #inTurn<T>(act: () => Promise<T>): Promise<T> {
    const turn = this.#queue.then(act)
    this.#queue = turn.catch(() => {})
    return turn
  }
}

const codeOf = (error: unknown): string => (error instanceof TouchstoneError ? error.detail.code : 'FAULT')

const refusal = (id: string, code: string, why: string): Answer => ({ kind: 'refused', id, code, why })

/** How often expiry is looked at when nothing else happens; the watchdog on disk is the second line. */
const TICK_MS = 1_000

/** Ends leases on time for as long as the provider runs, and all of them when it stops. */
export async function keepTime(service: LeaseService, clock: Clock, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const next = await service.tick()
    const wait = next === null ? TICK_MS : Math.max(10, Math.min(TICK_MS, next - clock.wallTime().getTime()))
    await clock.sleep(wait, signal).catch(() => {})
  }
  await service.shutDown()
}

/** Answers one channel, one message at a time, for as long as it lives; who dialled whom makes no difference. */
export async function serveLine(
  service: LeaseService,
  channel: MessageChannel,
  signal: AbortSignal,
  seat?: Seat,
): Promise<void> {
  const stop = (): void => channel.close()
  signal.addEventListener('abort', stop, { once: true })
  try {
    for await (const message of channel.messages) {
      const answer = await service.handle(message, signal, seat)
      // Somebody who cannot sign a message has no business here.
      if (answer === null) return
      await channel.send(answer)
    }
  } finally {
    signal.removeEventListener('abort', stop)
    channel.close()
  }
}
