/**
 * Leases of one box, as a pure state machine: requested -> open -> released or expired. Access may exist only for leases
 * that are requested or open; `close` names those whose access must go before anything else happens.
 */
export type LeaseState = 'requested' | 'open' | 'released' | 'expired'

/** A validator's look at the box, or a buyer's use of it. */
export type LeasePurpose = 'verify' | 'rent'

export interface Lease {
  readonly id: string
  /** Hex of the Ed25519 key that asked. */
  readonly holder: string
  readonly purpose: LeasePurpose
  /** One line of authorized_keys, checked by parseSshPublicKey; empty once the lease is over. */
  readonly sshKey: string
  readonly askedAtMs: number
  readonly expiresAtMs: number
  readonly state: LeaseState
}

export interface LeaseBook {
  readonly leases: readonly Lease[]
}

export type LeaseEvent =
  | {
      readonly kind: 'request'
      readonly id: string
      readonly holder: string
      readonly purpose: LeasePurpose
      readonly sshKey: string
      readonly seconds: number
      readonly nowMs: number
    }
  | { readonly kind: 'opened'; readonly id: string; readonly nowMs: number }
  /** Access could not be opened. */
  | { readonly kind: 'failed'; readonly id: string; readonly nowMs: number }
  | { readonly kind: 'release'; readonly id: string; readonly holder: string; readonly nowMs: number }
  | { readonly kind: 'tick'; readonly nowMs: number }
  /** The provider starts: whatever was held before its crash is over. */
  | { readonly kind: 'restart'; readonly nowMs: number }

export type LeaseAnswer =
  | { readonly kind: 'done' }
  | { readonly kind: 'accepted'; readonly lease: Lease }
  | { readonly kind: 'busy'; readonly purpose: LeasePurpose; readonly untilMs: number }
  | { readonly kind: 'refused'; readonly code: 'ID_USED' | 'TOO_LONG' | 'TOO_MANY' | 'NO_SUCH_LEASE' | 'NOT_YOURS' }

export interface LeaseStep {
  readonly book: LeaseBook
  readonly close: readonly string[]
  readonly answer: LeaseAnswer
}

/** A heavy test takes a minute or two; a validator that wants longer wants something else. */
export const MAX_VERIFY_SECONDS = 900
export const MAX_RENT_SECONDS = 31 * 86_400
/** How long the id of an ended lease is remembered: longer than its request is fresh, so that a replay opens nothing. */
export const REMEMBER_MS = 600_000
/** Leases in a book. None may be forgotten early, so whoever asks for more within REMEMBER_MS has to wait. */
export const MOST_REMEMBERED = 1000

export const EMPTY_BOOK: LeaseBook = { leases: [] }

export const isHeld = (lease: Lease): boolean => lease.state === 'requested' || lease.state === 'open'

/** The lease that keeps the box from others, if any. */
export const holderOf = (book: LeaseBook): Lease | null => book.leases.find(isHeld) ?? null

export function applyLeaseEvent(before: LeaseBook, event: LeaseEvent): LeaseStep {
  const { book, close } = event.kind === 'restart' ? endAll(before) : expire(before, event.nowMs)
  const step = (next: LeaseBook, answer: LeaseAnswer, more: readonly string[] = []): LeaseStep => ({
    book: next,
    close: [...close, ...more],
    answer,
  })
  switch (event.kind) {
    case 'tick':
    case 'restart':
      return step(forget(book, event.nowMs), { kind: 'done' })
    case 'request':
      return request(forget(book, event.nowMs), event, step)
    case 'opened':
      return step(open(book, event.id), { kind: 'done' })
    case 'failed':
      return step(end(book, event.id), { kind: 'done' }, heldIn(book, event.id) ? [event.id] : [])
    case 'release': {
      const lease = book.leases.find(({ id }) => id === event.id)
      if (lease === undefined) return step(book, { kind: 'refused', code: 'NO_SUCH_LEASE' })
      if (lease.holder !== event.holder) return step(book, { kind: 'refused', code: 'NOT_YOURS' })
      return step(end(book, event.id), { kind: 'done' }, isHeld(lease) ? [event.id] : [])
    }
  }
}

type Finish = (next: LeaseBook, answer: LeaseAnswer, more?: readonly string[]) => LeaseStep

function request(book: LeaseBook, event: Extract<LeaseEvent, { kind: 'request' }>, step: Finish): LeaseStep {
  if (book.leases.some(({ id }) => id === event.id)) return step(book, { kind: 'refused', code: 'ID_USED' })
  const limit = event.purpose === 'verify' ? MAX_VERIFY_SECONDS : MAX_RENT_SECONDS
  if (!(event.seconds > 0 && event.seconds <= limit)) return step(book, { kind: 'refused', code: 'TOO_LONG' })
  const holder = holderOf(book)
  if (holder !== null) return step(book, { kind: 'busy', purpose: holder.purpose, untilMs: holder.expiresAtMs })
  if (book.leases.length >= MOST_REMEMBERED) return step(book, { kind: 'refused', code: 'TOO_MANY' })
  const { kind: _, seconds, nowMs, ...facts } = event
  const lease: Lease = { ...facts, askedAtMs: nowMs, expiresAtMs: nowMs + 1000 * seconds, state: 'requested' }
  return step({ leases: [...book.leases, lease] }, { kind: 'accepted', lease })
}

const heldIn = (book: LeaseBook, id: string): boolean => book.leases.some((lease) => lease.id === id && isHeld(lease))

const change = (book: LeaseBook, when: (lease: Lease) => boolean, what: Partial<Lease>): LeaseBook => ({
  leases: book.leases.map((lease) => (when(lease) ? { ...lease, ...what } : lease)),
})

const RELEASED = { state: 'released', sshKey: '' } as const
const EXPIRED = { state: 'expired', sshKey: '' } as const

const open = (book: LeaseBook, id: string): LeaseBook =>
  change(book, (lease) => lease.id === id && lease.state === 'requested', { state: 'open' })

const end = (book: LeaseBook, id: string): LeaseBook =>
  change(book, (lease) => lease.id === id && isHeld(lease), RELEASED)

function endAll(book: LeaseBook): { book: LeaseBook; close: readonly string[] } {
  return { book: change(book, isHeld, RELEASED), close: book.leases.filter(isHeld).map(({ id }) => id) }
}

function expire(book: LeaseBook, nowMs: number): { book: LeaseBook; close: readonly string[] } {
  const due = (lease: Lease): boolean => isHeld(lease) && lease.expiresAtMs <= nowMs
  return { book: change(book, due, EXPIRED), close: book.leases.filter(due).map(({ id }) => id) }
}

/** A lease for a month that was given back at once is over: only what can still be replayed is kept. */
const forget = (book: LeaseBook, nowMs: number): LeaseBook => ({
  leases: book.leases.filter((lease) => isHeld(lease) || rememberedUntil(lease) > nowMs),
})

const rememberedUntil = ({ state, askedAtMs, expiresAtMs }: Lease): number =>
  (state === 'expired' ? expiresAtMs : askedAtMs) + REMEMBER_MS
