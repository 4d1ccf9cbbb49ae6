import { describe, expect, test } from 'vitest'
import { ownMachine, tampered } from '../../../../test/support/inProcessBox.ts'
import { AT_ONCE, BUSY, Card, cardOn, HOUR_MS, heldBy, play } from '../../../../test/support/playFleet.ts'
import type { VirtualClock } from '../../../../test/support/virtualClock.ts'
import type { JobKind } from '../../../core/schedule/boxState.ts'

describe('attack 210: boxes on one card are rented in turns', () => {
  const inTurns = (sharing: readonly string[]) => (hour: number) =>
    sharing.filter((_, box) => box !== hour % sharing.length)
  // A light look is answered by any other card.
  const cardFor = (card: Card, clock: VirtualClock, kind: JobKind) => (kind === 'light' ? new Card(clock) : card)

  test.each([
    ['two boxes', ['a', 'b'], 5],
    ['three boxes', ['a', 'b', 'e'], 6],
  ])('%s, of which one is free: they hold one card', async (_, sharing, hours) => {
    const share = await heldBy(
      sharing,
      (_, card, clock, kind) => ownMachine({ devices: [cardOn(cardFor(card, clock, kind))] }),
      { hours, rented: inTurns(sharing) },
    )
    expect(share).toBeGreaterThan(0.9)
    expect(share).toBeLessThan(AT_ONCE)
  })

  test('attacks 239 and 242: eight boxes, each with a card of its own until all have met: they hold one card', async () => {
    const sharing = Array.from({ length: 8 }, (_, i) => `s${i}`)
    const share = await heldBy(
      sharing,
      (_, card, clock, kind) => {
        const hasOwn = clock.monotonicUs() < 2 * HOUR_MS * 1000
        return ownMachine({ devices: [cardOn(hasOwn ? new Card(clock) : cardFor(card, clock, kind))] })
      },
      { hours: 10, cohortSize: 16, concurrency: 16, rented: (hour) => (hour < 2 ? [] : inTurns(sharing)(hour)) },
    )
    expect(share).toBeGreaterThan(0.9)
    expect(share).toBeLessThan(AT_ONCE)
  })

  test('an honest box earns in its first window after a rent, whoever else is rented (attack 141)', async () => {
    // Both rents of `a` are over after an hour. The one of `b` does not end.
    const rented = (hour: number) => [...([1, 4].includes(hour) ? ['a'] : []), ...(hour > 4 ? ['b'] : [])]
    const { results } = await play(['a', 'b', 'c'], (_, clock) => ownMachine({ devices: [cardOn(new Card(clock))] }), {
      hours: 8,
      rented,
    })
    const scored = (boxId: string) =>
      results(boxId).flatMap(({ box, atUs }) => (box.scored ? [Math.floor(atUs / 1000 / HOUR_MS)] : []))
    expect(scored('a')).toEqual([0, 2, 3, 5, 6, 7])
    expect(scored('b')).toEqual([0, 1, 2, 3, 4])
    expect(scored('c')).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
  })
})

describe('boxes on one card are away in turns, in other ways than by a rent of an hour', () => {
  // A light look is answered by any other card.
  const sharing = (card: Card, clock: VirtualClock, kind: JobKind) =>
    ownMachine({ devices: [cardOn(kind === 'light' ? new Card(clock) : card)] })
  const HALF_MS = HOUR_MS / 2

  test('attack 218: rented when a round is opened, and free before the other is measured: they hold one card', async () => {
    const share = await heldBy(['a', 'b'], (_, card, clock, kind) => sharing(card, clock, kind), {
      hours: 8,
      maxDelayMs: 1_200_000,
      meanwhile: async (store, clock) => {
        for (let hour = 1; hour < 8; hour++) {
          await clock.sleep(HALF_MS)
          const away = hour % 2 === 0 ? 'a' : 'b'
          await store.setAllocated(away, true)
          const { number } = (await store.lastRound())!
          while ((await store.lastRound())!.number === number) await clock.sleep(5_000)
          await store.setAllocated(away, false)
        }
      },
    })
    expect(share).toBeLessThan(AT_ONCE)
  })

  test('attack 219: one is rented, and the other joins under a new name: they hold one card', async () => {
    const names = Array.from({ length: 8 }, (_, i) => `s${i}`)
    const share = await heldBy(names, (_, card, clock, kind) => sharing(card, clock, kind), {
      hours: 8,
      maxDelayMs: 1_200_000,
      meanwhile: async (store, clock) => {
        for (const name of names.slice(1)) store.remove(name)
        await clock.sleep(HOUR_MS - 60_000)
        for (let hour = 1; hour < 7; hour++) {
          if (hour > 1) store.remove(names[hour - 2]!)
          await store.setAllocated(names[hour - 1]!, true)
          store.put(names[hour]!)
          await clock.sleep(HOUR_MS)
        }
      },
    })
    expect(share).toBeLessThan(AT_ONCE)
  })

  test('attack 220: a rented box dawdles over a light look and is busy, so that it stands among its like: they hold one card', async () => {
    let dawdling = ''
    const share = await heldBy(
      ['a', 'b'],
      (boxId, card, clock, kind) => {
        const honest = sharing(card, clock, kind)
        if (kind === 'full' || boxId !== dawdling) return honest
        return tampered(honest, {
          onAnswer: async (answer, line) => {
            if (answer.type === 'ready') await clock.sleep(31_000)
            await line.answer(answer.type === 'ready' ? BUSY : answer)
          },
        })
      },
      {
        hours: 10,
        maxDelayMs: 1_200_000,
        probes: true,
        retries: { limit: 0, intervalMs: 0 },
        box: { busyLimit: 3 },
        meanwhile: async (store, clock) => {
          for (let hour = 0; hour < 9; hour++) {
            // From when the full proofs are over until shortly before the next round.
            await clock.sleep(1_500_000)
            dawdling = hour % 2 === 0 ? 'b' : 'a'
            await store.setAllocated(dawdling, true)
            await clock.sleep(HOUR_MS - 1_560_000)
            await store.setAllocated(dawdling, false)
            await clock.sleep(60_000)
          }
        },
      },
    )
    expect(share).toBeLessThan(AT_ONCE)
  })

  test('an honest box that joins earns at once, whoever is rented', async () => {
    const { results } = await play(['a', 'b', 'c'], (_, clock) => ownMachine({ devices: [cardOn(new Card(clock))] }), {
      hours: 6,
      meanwhile: async (store, clock) => {
        await clock.sleep(HOUR_MS - 60_000)
        store.put('e')
        await clock.sleep(HOUR_MS)
        await store.setAllocated('b', true)
        store.put('f')
        await clock.sleep(2 * HOUR_MS)
        await store.setAllocated('b', false)
      },
    })
    const scored = (boxId: string) =>
      results(boxId).flatMap(({ box, atUs }) => (box.scored ? [Math.floor(atUs / 1000 / HOUR_MS)] : []))
    expect(scored('e')).toEqual([1, 2, 3, 4, 5])
    expect(scored('f')).toEqual([2, 3, 4, 5])
    expect(scored('b')).toEqual([0, 1, 4, 5])
    expect(scored('c')).toEqual([0, 1, 2, 3, 4, 5])
  })
})
