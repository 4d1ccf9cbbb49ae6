import { z } from 'zod'

/** A validator's look at the box, or a buyer's use of it. */
export const LEASE_PURPOSES = ['verify', 'rent'] as const

const leaseSchema = z
  .strictObject({
    id: z.string().regex(/^[0-9a-f]{32}$/),
    /** Hex of the Ed25519 key that asked. */
    holder: z.string().regex(/^[0-9a-f]{64}$/),
    purpose: z.enum(LEASE_PURPOSES),
    /** One line of authorized_keys, checked by parseSshPublicKey; empty once the lease is over. */
    sshKey: z.string().max(2000),
    askedAtMs: z.number(),
    expiresAtMs: z.number(),
    state: z.enum(['requested', 'open', 'released', 'expired']),
  })
  .readonly()

/**
 * Leases of one box, as a pure state machine: requested -> open -> released or expired. Access may exist only for leases
 * that are requested or open; `close` names those whose access must go before anything else happens.
 */
export const leaseBookSchema = z.strictObject({ leases: z.array(leaseSchema).readonly() }).readonly()

export type LeaseBook = z.infer<typeof leaseBookSchema>
export type Lease = z.infer<typeof leaseSchema>
export type LeasePurpose = Lease['purpose']

export type LeaseEvent = { readonly nowMs: number } & (
  | ({
      readonly kind: 'request'
      readonly seconds: number
      /** The provider named the key that asks: room is kept for it, and this lease of a stranger gives way (attack 484). */
      readonly named: { readonly over: string | null } | null
    } & Omit<Lease, 'askedAtMs' | 'expiresAtMs' | 'state'>)
  /** Access was opened, or could not be. */
  | { readonly kind: 'opened' | 'failed'; readonly id: string }
  | { readonly kind: 'release'; readonly id: string; readonly holder: string }
  /** Restart: the provider starts, and whatever was held before its crash is over. */
  | { readonly kind: 'tick' | 'restart' }
)

export type LeaseAnswer =
  | { readonly kind: 'done' }
  | { readonly kind: 'accepted'; readonly lease: Lease }
  | { readonly kind: 'busy'; readonly purpose: LeasePurpose; readonly untilMs: number }
  | { readonly kind: 'refused'; readonly code: 'ID_USED' | 'TOO_LONG' | 'NO_SUCH_LEASE' | 'NOT_YOURS' }

/** A heavy test takes a minute or two; a validator that wants longer wants something else. */
export const MAX_VERIFY_SECONDS = 1000
export const MAX_RENT_SECONDS = 31 * 86_400
/** How long the id of an ended lease is remembered: longer than its request is fresh, so that a replay opens nothing. */
export const REMEMBER_MS = 600_000
/** Leases in a book. None may be forgotten early, so whoever asks for more within REMEMBER_MS has to wait. */
export const MOST_REMEMBERED = 1000
/** Of these, kept for keys that the provider named: strangers could use up all others in a moment. */
export const KEPT_FOR_NAMED = 100

export const isHeld = (lease: Lease): boolean => lease.state === 'requested' || lease.state === 'open'

/** The lease that keeps the box from others, if any. */
export const holderOf = (book: LeaseBook): Lease | null => book.leases.find(isHeld) ?? null

/** The book after an event, the answer to it, and whose access must be closed because of it. */
export function applyLeaseEvent(before: LeaseBook, event: LeaseEvent) {
  const over = event.kind === 'restart' ? change(before, isHeld, RELEASED) : expire(before, event.nowMs)
  const { book, answer } = answerTo(event, over)
  const close = before.leases.filter((lease) => isHeld(lease) && !holds(book, lease.id)).map(({ id }) => id)
  return { book, answer, close }
}

interface Answered {
  readonly book: LeaseBook
  readonly answer: LeaseAnswer
}

function answerTo(event: LeaseEvent, book: LeaseBook): Answered {
  switch (event.kind) {
    case 'tick':
    case 'restart':
      return done(forget(book, event.nowMs))
    case 'request':
      return request(forget(book, event.nowMs), event)
    case 'opened':
      return done(change(book, ({ id, state }) => id === event.id && state === 'requested', { state: 'open' }))
    case 'failed':
      return done(end(book, event.id))
    case 'release': {
      const lease = book.leases.find(({ id }) => id === event.id)
      if (lease === undefined) return refused(book, 'NO_SUCH_LEASE')
      return lease.holder === event.holder ? done(end(book, event.id)) : refused(book, 'NOT_YOURS')
    }
  }
}

const done = (book: LeaseBook): Answered => ({ book, answer: { kind: 'done' } })

const refused = (book: LeaseBook, code: Extract<LeaseAnswer, { kind: 'refused' }>['code']): Answered => ({
  book,
  answer: { kind: 'refused', code },
})

function request(book: LeaseBook, event: Extract<LeaseEvent, { kind: 'request' }>): Answered {
  if (book.leases.some(({ id }) => id === event.id)) return refused(book, 'ID_USED')
  const limit = event.purpose === 'verify' ? MAX_VERIFY_SECONDS : MAX_RENT_SECONDS
  if (!(event.seconds > 0 && event.seconds <= limit)) return refused(book, 'TOO_LONG')
  const holder = holderOf(book)
  if (holder !== null && holder.id !== event.named?.over)
    return { book, answer: { kind: 'busy', purpose: holder.purpose, untilMs: holder.expiresAtMs } }
  // Whoever filled the book, the box itself refuses nobody: to a validator that would be a failure (attack 401).
  if (book.leases.length >= (event.named ? MOST_REMEMBERED : MOST_REMEMBERED - KEPT_FOR_NAMED)) {
    const untilMs = Math.min(...book.leases.map(rememberedUntil))
    return { book, answer: { kind: 'busy', purpose: 'verify', untilMs } }
  }
  const { kind: _, seconds, nowMs, named, ...facts } = event
  const left = named?.over ? end(book, named.over) : book
  const lease: Lease = { ...facts, askedAtMs: nowMs, expiresAtMs: nowMs + 1000 * seconds, state: 'requested' }
  return { book: { leases: [...left.leases, lease] }, answer: { kind: 'accepted', lease } }
}

const holds = (book: LeaseBook, id: string): boolean => book.leases.some((lease) => lease.id === id && isHeld(lease))

const change = (book: LeaseBook, when: (lease: Lease) => boolean, what: Partial<Lease>): LeaseBook => ({
  leases: book.leases.map((lease) => (when(lease) ? { ...lease, ...what } : lease)),
})

const RELEASED = { state: 'released', sshKey: '' } as const

const end = (book: LeaseBook, id: string): LeaseBook =>
  change(book, (lease) => lease.id === id && isHeld(lease), RELEASED)

const expire = (book: LeaseBook, nowMs: number): LeaseBook =>
  change(book, (lease) => isHeld(lease) && lease.expiresAtMs <= nowMs, { state: 'expired', sshKey: '' })

/** A lease for a month that was given back at once is over: only what can still be replayed is kept. */
const forget = (book: LeaseBook, nowMs: number): LeaseBook => ({
  leases: book.leases.filter((lease) => isHeld(lease) || rememberedUntil(lease) > nowMs),
})

const rememberedUntil = ({ state, askedAtMs, expiresAtMs }: Lease): number =>
  (state === 'expired' ? expiresAtMs : askedAtMs) + REMEMBER_MS
