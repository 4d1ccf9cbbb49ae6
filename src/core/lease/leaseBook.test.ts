import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  applyLeaseEvent,
  holderOf,
  isHeld,
  KEPT_FOR_NAMED,
  type Lease,
  type LeaseBook,
  type LeaseEvent,
  MAX_RENT_SECONDS,
  MAX_VERIFY_SECONDS,
  MOST_REMEMBERED,
  REMEMBER_MS,
} from './leaseBook.ts'
import { MAX_CLOCK_SKEW_MS } from './leaseMessages.ts'

const EMPTY_BOOK: LeaseBook = { leases: [] }

const asked = (over: Partial<Extract<LeaseEvent, { kind: 'request' }>> = {}): LeaseEvent => ({
  kind: 'request',
  id: 'a',
  holder: 'one',
  purpose: 'verify',
  sshKey: 'key',
  seconds: 60,
  named: null,
  nowMs: 0,
  ...over,
})
const through = (...events: readonly LeaseEvent[]) =>
  events.reduce(
    (step, event) => applyLeaseEvent(step.book, event),
    applyLeaseEvent(EMPTY_BOOK, { kind: 'tick', nowMs: 0 }),
  )

describe('applyLeaseEvent', () => {
  test('default: requested, open, released by its holder', () => {
    const open = through(asked(), { kind: 'opened', id: 'a', nowMs: 1 })
    expect(holderOf(open.book)).toMatchObject({ id: 'a', state: 'open', expiresAtMs: 60_000 })
    const released = applyLeaseEvent(open.book, { kind: 'release', id: 'a', holder: 'one', nowMs: 2 })
    expect(released.close).toEqual(['a'])
    expect(released.book.leases[0]!.state).toBe('released')
    const twice = applyLeaseEvent(released.book, { kind: 'release', id: 'a', holder: 'one', nowMs: 3 })
    expect([twice.close, twice.answer]).toEqual([[], { kind: 'done' }])
  })

  test('behavior: a held box answers busy with who holds it, never an error', () => {
    const second = through(asked({ purpose: 'rent' }), asked({ id: 'b', holder: 'two', nowMs: 5 }))
    expect(second.answer).toEqual({ kind: 'busy', purpose: 'rent', untilMs: 60_000 })
  })

  test('behavior: only the holder can release, an id serves once, and there is a longest time', () => {
    const stranger = through(asked(), { kind: 'release', id: 'a', holder: 'two', nowMs: 1 })
    expect([stranger.answer, stranger.close]).toEqual([{ kind: 'refused', code: 'NOT_YOURS' }, []])
    const replay = through(asked(), { kind: 'release', id: 'a', holder: 'one', nowMs: 1 }, asked({ nowMs: 2 }))
    expect(replay.answer).toEqual({ kind: 'refused', code: 'ID_USED' })
    expect(through(asked({ seconds: MAX_VERIFY_SECONDS + 1 })).answer).toMatchObject({ code: 'TOO_LONG' })
    expect(through(asked({ seconds: Number.NaN })).answer).toMatchObject({ code: 'TOO_LONG' })
    expect(through({ kind: 'release', id: 'x', holder: 'one', nowMs: 1 }).answer).toMatchObject({
      code: 'NO_SUCH_LEASE',
    })
  })

  test('attack 484: a stranger gives way to a key that was named, for which strangers leave room in the book', () => {
    const first = through(asked(), asked({ id: 'b', holder: 'two', named: { over: 'a' }, nowMs: 1 }))
    expect(first).toMatchObject({ answer: { kind: 'accepted' }, close: ['a'] })
    expect(holderOf(first.book)).toMatchObject({ id: 'b' })
    expect(first.book.leases[0]).toMatchObject({ id: 'a', state: 'released', sshKey: '' })
    let book: LeaseBook = EMPTY_BOOK
    for (let i = 0; holderOf(book) === null; i++) {
      const step = applyLeaseEvent(book, asked({ id: `${i}` }))
      if (step.answer.kind === 'busy') break
      book = applyLeaseEvent(step.book, { kind: 'release', id: `${i}`, holder: 'one', nowMs: 0 }).book
    }
    expect(book.leases).toHaveLength(MOST_REMEMBERED - KEPT_FOR_NAMED)
    expect(applyLeaseEvent(book, asked({ named: { over: null } })).answer.kind).toBe('accepted')
  })

  test('behavior: access that opens after the time is up is closed again', () => {
    const late = through(asked(), { kind: 'opened', id: 'a', nowMs: 60_000 })
    expect(late.close).toEqual(['a'])
    expect(late.book.leases[0]!.state).toBe('expired')
  })

  test('behavior: a restart closes whatever was held, opened or not', () => {
    expect(through(asked(), { kind: 'restart', nowMs: 1 }).close).toEqual(['a'])
    expect(through(asked(), { kind: 'opened', id: 'a', nowMs: 1 }, { kind: 'restart', nowMs: 2 }).close).toEqual(['a'])
  })

  test('attacks 59 and 401: leases for a month, asked for and given back over and over, leave a short book, and nobody is refused', () => {
    let book: LeaseBook = EMPTY_BOOK
    const codes = new Set<string>()
    for (let i = 0; i < 3 * MOST_REMEMBERED; i++) {
      const nowMs = i * 10
      const step = applyLeaseEvent(book, asked({ id: `${i}`, purpose: 'rent', seconds: MAX_RENT_SECONDS, nowMs }))
      codes.add(step.answer.kind === 'refused' ? step.answer.code : step.answer.kind)
      book = applyLeaseEvent(step.book, { kind: 'release', id: `${i}`, holder: 'one', nowMs }).book
      expect(book.leases.length).toBeLessThanOrEqual(MOST_REMEMBERED)
    }
    expect([...codes]).toEqual(['accepted', 'busy'])
    // Keys are the longest part, and nobody needs that of a lease that is over.
    expect(JSON.stringify(book)).not.toContain('"key"')
    const nowMs = 3 * MOST_REMEMBERED * 10 + REMEMBER_MS
    expect(applyLeaseEvent(book, asked({ id: 'next', nowMs }))).toMatchObject({
      answer: { kind: 'accepted' },
      book: { leases: [{ id: 'next' }] },
    })
  })

  /** Long after, an id may come again. */
  const nameOf = ({ id, askedAtMs }: Lease): string => `${id} ${askedAtMs}`
  const anId = fc.constantFrom('a', 'b', 'c', 'd')
  const aHolder = fc.constantFrom('one', 'two')
  const anEvent = fc.oneof(
    fc.record({
      kind: fc.constant('request' as const),
      id: anId,
      holder: aHolder,
      purpose: fc.constantFrom('verify' as const, 'rent' as const),
      sshKey: fc.constant('key'),
      seconds: fc.integer({ min: 0, max: 1000 }),
    }),
    fc.record({ kind: fc.constantFrom('opened' as const, 'failed' as const), id: anId }),
    fc.record({ kind: fc.constant('release' as const), id: anId, holder: aHolder }),
    fc.record({ kind: fc.constantFrom('tick' as const, 'restart' as const) }),
  )

  test('property: access opens once for a fresh request, is closed exactly once, and never later than its end', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(anEvent, fc.integer({ min: 0, max: 400_000 })), { maxLength: 60 }), (steps) => {
        let book: LeaseBook = EMPTY_BOOK
        let nowMs = 0
        const access = new Map<string, number>()
        const acceptedAt = new Map<string, number>()
        const take = (event: LeaseEvent): void => {
          const ended = new Map(
            book.leases.filter((lease) => !isHeld(lease)).map((lease) => [nameOf(lease), lease.state]),
          )
          const step = applyLeaseEvent(book, event)
          book = step.book
          for (const id of step.close) expect(access.delete(id)).toBe(true)
          if (step.answer.kind === 'accepted' && event.kind === 'request') {
            // Whoever recorded the request can show it again while it is fresh: it must not open access twice.
            const before = acceptedAt.get(event.id) ?? Number.NEGATIVE_INFINITY
            expect(event.nowMs - before).toBeGreaterThan(2 * MAX_CLOCK_SKEW_MS)
            acceptedAt.set(event.id, event.nowMs)
          }
          if (step.answer.kind === 'accepted') access.set(step.answer.lease.id, step.answer.lease.expiresAtMs)
          // Those with access are those held; there is at most one; none is past its end; an end is final.
          expect([...access.keys()]).toEqual(book.leases.filter(isHeld).map(({ id }) => id))
          expect(access.size).toBeLessThanOrEqual(1)
          for (const end of access.values()) expect(end).toBeGreaterThan(nowMs)
          // What is over is remembered for a while after it was asked for or after its end, however long it was for.
          if (event.kind === 'tick' || event.kind === 'restart')
            for (const { state, askedAtMs, expiresAtMs } of book.leases.filter((lease) => !isHeld(lease)))
              expect(nowMs).toBeLessThan((state === 'expired' ? expiresAtMs : askedAtMs) + REMEMBER_MS)
          for (const lease of book.leases)
            if (ended.has(nameOf(lease))) expect(lease.state).toBe(ended.get(nameOf(lease)))
        }
        for (const [event, wait] of steps) {
          nowMs += wait
          take({ ...event, nowMs } as LeaseEvent)
        }
        nowMs += 1000 * 1000 + REMEMBER_MS
        take({ kind: 'tick', nowMs })
        expect(access.size).toBe(0)
        expect(book.leases).toEqual([])
      }),
      { numRuns: 300 },
    )
  })
})
