import { describe, expect, test } from 'vitest'
import { ownMachine, type Tampering, tampered } from '../../../../test/support/inProcessBox.ts'
import { openReferenceDevice, ReferenceDevice } from '../../../../test/support/openReferenceDevice.ts'
import {
  AT_ONCE,
  BUSY,
  CARD,
  Card,
  cardOn,
  engine,
  FULL_SPEED,
  HOUR_MS,
  heldBy,
  outcomes,
  play,
  ROUND_MS,
} from '../../../../test/support/playFleet.ts'
import type { VirtualClock } from '../../../../test/support/virtualClock.ts'
import type { Precision } from '../../../core/params/precision.ts'
import { fault } from '../../../drivers/gpu/cuda/faults.ts'
import type { OnRoot, SeriesTask } from '../../../ports/device.ts'
import type { TakenJob } from '../../../ports/store.ts'

describe('attack 77: two boxes share one card', () => {
  async function held(dodge: (card: Card, clock: VirtualClock, signal: AbortSignal) => Tampering): Promise<number> {
    const stop = new AbortController()
    const share = await heldBy(['a', 'b'], (boxId, card, clock) => {
      const honest = ownMachine({ devices: [cardOn(card)] })
      return boxId === 'b' ? tampered(honest, dodge(card, clock, stop.signal)) : honest
    })
    stop.abort()
    return share
  }

  test('both at once show half each', async () => {
    const share = await held(() => ({}))
    expect(share).toBeGreaterThan(0.9)
    expect(share).toBeLessThan(AT_ONCE)
  })

  test('waiting until the other is done gains nothing', async () => {
    const share = await held((card, _clock, signal) => ({
      onAnswer: async (answer, line) => {
        if (answer.type === 'ready') await card.idle(signal)
        await line.answer(answer)
      },
    }))
    expect(share).toBeLessThan(AT_ONCE)
  })

  test('waiting until the other must be done gains nothing', async () => {
    const share = await held((_card, clock) => ({
      onAnswer: async (answer, line) => {
        if (answer.type === 'ready') await clock.sleep(330_000)
        await line.answer(answer)
      },
    }))
    expect(share).toBeLessThan(AT_ONCE)
  })

  test('being busy whenever the other is at work gains nothing', async () => {
    const share = await held((card) => ({
      onAnswer: async (answer, line) => {
        const busy = answer.type === 'ready' && card.users > 0
        await line.answer(busy ? BUSY : answer)
      },
    }))
    expect(share).toBeLessThan(AT_ONCE)
  })

  test('being busy every second time keeps what was earned beside the other, and never a whole card', async () => {
    let asked = 0
    const share = await held(() => ({
      onAnswer: (answer, line) => line.answer(answer.type === 'ready' && asked++ % 2 === 0 ? BUSY : answer),
    }))
    expect(share).toBeLessThan(AT_ONCE)
  })

  test.each([
    ['the first part', (part: number) => part === 0],
    ['every part', () => true],
  ])('stalling in %s until the other is done with it gains nothing', async (_, stalls) => {
    const share = await held((card, _clock, signal) => ({
      onOrder: async (order, line) => {
        if (order.type === 'start' && stalls(order.part)) await card.idle(signal)
        await line.order(order)
      },
    }))
    expect(share).toBeLessThan(AT_ONCE)
  })

  test('a run that is begun anew after the window is void, and the second one a failure', async () => {
    // It says that a card is lost which never was, and runs again when the other is done (attack 64).
    const lost = fault('GPU_LOST', { what: 'gone', mend: 'Believe it.' })
    class Phantom extends ReferenceDevice {
      readonly #card: Card
      constructor(card: Card) {
        super({ engine, facts: { class: 'gpu', backEnd: 'cuda', name: 'Card' } })
        this.#card = card
      }
      override async runSeries(_task: SeriesTask, _onRoot: OnRoot, signal: AbortSignal): Promise<void> {
        await this.#card.idle(signal)
        throw lost
      }
    }
    const { results } = await play(
      ['a', 'b'],
      (boxId, clock) => {
        const card = new Card(clock)
        const devices = boxId === 'a' ? [cardOn(card)] : [cardOn(card), new Phantom(card)]
        return ownMachine({ devices })
      },
      { hours: 2 },
    )
    expect(outcomes(results('a'))).toEqual(['accepted', 'accepted'])
    expect(results('b').map(({ result, box }) => [result.outcome, result.code, box.failed])).toEqual([
      ['void', 'WINDOW_MISSED', false],
      ['void', 'WINDOW_MISSED', true],
    ])
  })

  test.each([
    ['for as long as the other waits', 20_000],
    ['for longer than the other waits', 70_000],
  ])('stalling with the openings between two parts %s gains nothing', async (_, milliseconds) => {
    const share = await held((card, clock, signal) => ({
      onOrder: async (order, line) => {
        if (order.type === 'reveal' && order.part === 0) await clock.sleep(milliseconds).then(() => card.idle(signal))
        await line.order(order)
      },
    }))
    expect(share).toBeLessThan(AT_ONCE)
  })
})

describe('attack 125: a box on the card of another is measured apart from it', () => {
  test.each([
    ['by silence and then busy in its light looks', BUSY],
    ['by silence and then nothing in its light looks', null],
  ])('%s: gains nothing', async (_, ends) => {
    const looked = new Set<number>()
    const never = new AbortController().signal
    const share = await heldBy(
      ['a', 'b'],
      (boxId, card, clock, kind) => {
        const honest = ownMachine({ devices: [cardOn(card)] })
        if (boxId === 'a') return honest
        // Where it is not beside the other it waits until that one is done.
        if (kind === 'full')
          return tampered(honest, {
            onAnswer: async (answer, line) => {
              if (answer.type === 'ready' && looked.size > 0) await card.idle(never)
              await line.answer(answer)
            },
          })
        const hour = Math.floor(clock.monotonicUs() / 1000 / HOUR_MS)
        if (looked.has(hour)) return honest
        looked.add(hour)
        return tampered(honest, {
          onAnswer: async (answer, line) => {
            if (answer.type === 'ready') await clock.sleep(31_000)
            if (answer.type !== 'ready') await line.answer(answer)
            else if (ends) await line.answer(ends)
            else throw fault('GPU_LOST', { what: 'gone', mend: 'Believe it.' })
          },
        })
      },
      { hours: 4, probes: true, maxDelayMs: 1_200_000 },
    )
    expect(share).toBeGreaterThan(0.5)
    expect(share).toBeLessThan(AT_ONCE)
  })

  test('a fleet of one box earns alone', async () => {
    const { results } = await play(['a'], (_, clock) => ownMachine({ devices: [cardOn(new Card(clock))] }), {
      hours: 2,
    })
    expect(results('a').map(({ box }) => box.scored && box.score > 0)).toEqual([true, true])
  })

  test('a box that was away is asked among those that hang, and earns again in the round after that', async () => {
    const awayHours = [1]
    const { results } = await play(
      ['a', 'b', 'c'],
      (boxId, clock) => {
        const hour = Math.floor(clock.monotonicUs() / 1000 / HOUR_MS)
        const isAway = boxId === 'a' && awayHours.includes(hour)
        return isAway ? null : ownMachine({ devices: [cardOn(new Card(clock))] })
      },
      { hours: 4, retries: { limit: 0, intervalMs: 0 } },
    )
    const history = results('a').map(({ result, box }) => [result.outcome, box.scored, box.score > 0])
    expect(history).toEqual([
      ['accepted', true, true],
      ['void', false, true],
      ['accepted', false, true],
      ['accepted', true, true],
    ])
    for (const id of ['b', 'c'])
      expect(results(id).map(({ result, box }) => [result.outcome, box.scored])).toEqual(
        Array.from({ length: 4 }, () => ['accepted', true]),
      )
  })
})

describe('attack 126: boxes on one card say that their drivers have changed, and are proven at once, alone', () => {
  test('four boxes hold one card', async () => {
    let told = 0
    const boxes = Array.from({ length: 4 }, (_, i) => `s${i}`)
    const share = await heldBy(
      boxes,
      (_, card) => ownMachine({ devices: [cardOn(card, { details: { driver: `550.${told++}` } })] }),
      { hours: 3, probes: true },
    )
    expect(share).toBeGreaterThan(0.9)
    expect(share).toBeLessThan(AT_ONCE)
  })
})

describe('attack 127: boxes on one card offer different precisions, so that their parts have different numbers', () => {
  const ALL = ['int8', 'fp8', 'bf16', 'fp16', 'fp32'] as const

  test.each<[string, readonly (readonly Precision[])[]]>([
    ['one and five', [['bf16'], ALL]],
    ['one, two and five', [['bf16'], ['fp8', 'bf16'], ALL]],
    ['one each', [['fp32'], ['int8'], ['fp16']]],
  ])('%s: all of them hold one card in every part that they have in common', async (_, offered) => {
    const ids = offered.map((_, i) => `s${i}`)
    let card: Card | null = null
    const { results } = await play(
      [...ids, 'c'],
      (boxId, clock) => {
        card ??= new Card(clock)
        const precisions = offered[ids.indexOf(boxId)]
        return ownMachine({ devices: [precisions ? cardOn(card, { precisions }) : cardOn(new Card(clock))] })
      },
      { hours: 1, precisions: ALL },
    )
    const sums = new Map<string, number>()
    for (const { result } of ids.flatMap(results)) {
      expect(result.outcome).toBe('accepted')
      for (const { name, value } of result.figures)
        if (/^(rate|sustained)\./.test(name)) {
          const slot = name.startsWith('sustained') ? 'sustained' : name
          sums.set(slot, (sums.get(slot) ?? 0) + value / FULL_SPEED)
        }
    }
    expect(sums.get('sustained')).toBeGreaterThan(0.9)
    for (const sum of sums.values()) expect(sum).toBeLessThan(AT_ONCE + 0.1)
  })
})

describe('attack 134: two boxes on one card take turns at being held back', () => {
  test.each([
    ['in every round', 1],
    ['in two rounds of three', 3],
  ])('%s: they hold less than they would by saying busy', async (_, cleanEvery) => {
    const never = new AbortController().signal
    const share = await heldBy(
      ['a', 'b'],
      (boxId, card, clock, kind) => {
        const honest = ownMachine({ devices: [cardOn(card)] })
        const hour = Math.floor(clock.monotonicUs() / 1000 / HOUR_MS)
        const clean = cleanEvery > 1 && hour % cleanEvery === 0
        if (kind === 'light' || clean || (hour % 2 === 0) !== (boxId === 'a')) return honest
        return tampered(honest, {
          onOrder: async (order, line) => {
            if (order.type === 'start') await card.idle(never)
            await line.order(order)
          },
        })
      },
      { hours: 12 },
    )
    expect(share).toBeLessThan(AT_ONCE)
  })
})

describe('attack 185: two boxes on one card are busy in turns, each long enough to keep what it earned without the other', () => {
  test('they hold less than by being busy every second time', async () => {
    // Round by round: b is busy once, a three times, then both run.
    const busy = ['b', 'a', 'a', 'a', '']
    const share = await heldBy(
      ['a', 'b'],
      (boxId, card, clock, kind) => {
        const honest = ownMachine({ devices: [cardOn(card)] })
        const hour = Math.floor(clock.monotonicUs() / 1000 / HOUR_MS)
        if (kind === 'light' || busy[hour % busy.length] !== boxId) return honest
        return tampered(honest, { onAnswer: (answer, line) => line.answer(answer.type === 'ready' ? BUSY : answer) })
      },
      { hours: 12, box: { busyLimit: 3 } },
    )
    expect(share).toBeLessThan(AT_ONCE)
  })
})

describe('attack 222: boxes on one card show all of it where they do not meet', () => {
  test('two boxes of a fleet that is larger than a window: only who stands in it earns', async () => {
    const rules = { hours: 8, cohortSize: 2, maxDelayMs: 1_200_000 }
    const share = await heldBy(['a', 'b'], (_, card) => ownMachine({ devices: [cardOn(card)] }), rules)
    expect(share).toBeLessThan(AT_ONCE)
  })
})

describe('attack 135: alone, showing a little less', () => {
  test('lowers a score and does not make it young again', async () => {
    let told = 0
    const { store } = await play(
      ['a', 'c', 'd'],
      (boxId, clock, kind) => {
        if (boxId !== 'd') return ownMachine({ devices: [cardOn(new Card(clock))] })
        if (kind === 'light') told++
        const slow = told > 0 ? ROUND_MS * 0.01 : 0
        const costs = { round: () => clock.sleep(ROUND_MS + slow) }
        const facts = { ...CARD, details: { driver: `550.${told}` } }
        return ownMachine({ devices: [openReferenceDevice({ engine, facts, costs })] })
      },
      { hours: 12, roundEveryMs: 12 * HOUR_MS, probes: true, maxDelayMs: 60_000 },
    )
    const [first, ...alone] = store.results.filter(({ job }) => job.box.id === 'd' && (job as TakenJob).kind === 'full')
    expect(first!.box.scored).toBe(true)
    expect(alone.length).toBeGreaterThan(0)
    expect(alone[0]!.box).toMatchObject({ scored: false, atMost: expect.any(Number) })
    expect(alone[0]!.box.score).toBeLessThan(first!.box.score)
    for (const { box } of alone) expect(box.scored).toBe(false)
  })
})

describe('attack 233: a box with many cards lends one of them', () => {
  const CARDS = 5
  const CARD_MS = 250

  /** What lender and borrower hold together at the ends of the third and fourth round, in cards. */
  async function held(cohortSize: number): Promise<number> {
    let cards: readonly Card[] | null = null
    const beganUs = new Map<string, number>()
    const { results } = await play(
      ['lender', 'borrower', 'c', 'd', 'e', 'f'],
      async (boxId, clock) => {
        cards ??= Array.from({ length: CARDS }, () => new Card(clock, CARD_MS))
        beganUs.set(boxId, clock.monotonicUs())
        if (boxId === 'borrower') return ownMachine({ devices: [cardOn(cards[0]!)] })
        if (boxId !== 'lender') return ownMachine({ devices: [cardOn(new Card(clock, CARD_MS))] })
        await clock.sleep(2000)
        // Where they meet, the lent card is not there.
        const meets = clock.monotonicUs() - (beganUs.get('borrower') ?? Number.NEGATIVE_INFINITY) < 10_000_000
        return ownMachine({ devices: cards.slice(meets ? 1 : 0).map((card) => cardOn(card)) })
      },
      { hours: 4, cohortSize, concurrency: 256, maxDelayMs: 1_800_000, precisions: ['int8'] },
    )
    const card = results('c').at(-1)!.box.score
    const rounds = [2, 3].map((hour) => {
      const at = (boxId: string) => results(boxId).findLast(({ atUs }) => atUs < (hour + 1) * HOUR_MS * 1000)!
      return (at('lender').box.score + at('borrower').box.score) / card
    })
    return rounds.reduce((sum, cards) => sum + cards, 0) / rounds.length
  }

  test('to a box of the same cohort, as the whole fleet is by default: all cards are paid once', async () => {
    expect(await held(256)).toBeLessThan(1.05 * CARDS)
  })
})
