import { describe, expect, test } from 'vitest'
import { ownMachine, type Tampering, tampered } from '../../../../test/support/inProcessBox.ts'
import { openReferenceDevice } from '../../../../test/support/openReferenceDevice.ts'
import { MAINNET } from '../../../../test/support/plannedBoxes.ts'
import { CARD, Card, cardOn, engine, HOUR_MS, outcomes, play, ROUND_MS } from '../../../../test/support/playFleet.ts'
import { VirtualClock } from '../../../../test/support/virtualClock.ts'
import { concatBytes } from '../../../core/bytes/bytes.ts'
import { MAX_VERIFY_SECONDS } from '../../../core/lease/leaseBook.ts'
import { PRESETS, type Preset } from '../../../core/params/presets.ts'
import type { Challenge } from '../../../core/proof/challenge.ts'
import { planRun } from '../../../core/proof/planRun.ts'
import { slotLimitMs, slotsOf } from '../../../core/proof/slotOf.ts'
import { encodeFrame } from '../../../core/wire/frames.ts'
import { Cohort } from './cohort.ts'

describe('attack 128: boxes that are the last at every gate, and in time', () => {
  const ALL = ['int8', 'fp8', 'bf16', 'fp16', 'fp32'] as const
  const START_MS = 110_000

  /** The others come late to the start, and then take their time with the openings of their parts. */
  const beside = (dawdlers: readonly string[], dawdleMs: (boxId: string, part: number) => number) =>
    play(
      ['honest', 'other', ...dawdlers],
      async (boxId, clock) => {
        const honest = ownMachine({ devices: [cardOn(new Card(clock))] })
        if (!dawdlers.includes(boxId) || clock.monotonicUs() < HOUR_MS * 1000) return honest
        await clock.sleep(START_MS)
        return tampered(honest, {
          onOrder: async (order, line) => {
            if (order.type === 'reveal') await clock.sleep(dawdleMs(boxId, order.part))
            await line.order(order)
          },
        })
      },
      { hours: 2, jobLimitMs: 300_000, precisions: ALL },
    )

  test('one of them is not waited for when its time is up, and costs nobody the score', async () => {
    const { results } = await beside(['x'], () => 57_000)
    for (const id of ['honest', 'other'])
      expect(results(id).map(({ result, box }) => [result.code, box.scored])).toEqual([
        [null, true],
        [null, true],
      ])
    expect(results('honest')[1]!.result.seconds).toBeLessThan(START_MS / 1000 + 200)
    expect(outcomes(results('x'))).toEqual(['accepted', 'JOB_TIMEOUT'])
  })

  test('six of them in turn: the others are done before a lease is over', async () => {
    const ids = Array.from({ length: 6 }, (_, i) => `x${i}`)
    const { results } = await beside(ids, (boxId, part) => (boxId === `x${part}` ? 45_000 : 0))
    for (const id of ['honest', 'other']) {
      const [, second] = results(id)
      expect([second!.result.code, second!.box.scored]).toEqual([null, true])
      expect(second!.result.seconds).toBeLessThan(MAX_VERIFY_SECONDS - 60)
    }
  })

  test('sixteen of them, another one at each gate: together they keep the others waiting no longer than seven could', async () => {
    const clock = new VirtualClock()
    const gpu = { class: 'gpu', memoryBytes: 2 ** 30, freeBytes: 2 ** 30 } as const
    const devices = Array.from({ length: 8 }, () => gpu)
    const inputs = { ...MAINNET, preset: PRESETS.tiny, devices, precisions: ALL, maxSize: 64, roundTripSeconds: 0 }
    const parts = planRun(inputs, () => 64, new Map())
    const moments = parts.flatMap((_, part) => slotsOf(parts, part).map((slot, phase) => ({ part, phase, slot })))
    const members = Array.from({ length: 17 }, (_, job) => job)
    const cohort = new Cohort(members, 1000, clock)
    const key = new Uint8Array(32)
    const names = { version: 2 as const, runId: key, validatorKey: key, proverKey: key, deviceCount: 8 }
    const challenge: Challenge = { ...names, parts: parts.map((part) => ({ ...part, nonceHash: key })) }
    const walk = async (job: number): Promise<number> => {
      for (const [n, { slot, ...moment }] of moments.entries()) {
        await cohort.beforeStart(job, { ...moment, challenge }, new AbortController().signal)
        await clock.sleep(slotLimitMs(slot) + (n === job && job < 16 ? 39_000 : 0))
      }
      cohort.leave(job)
      return clock.monotonicUs()
    }
    const endedUs = await Promise.all(members.map(walk))
    const plannedMs = moments.reduce((sum, { slot }) => sum + slotLimitMs(slot), 0)
    expect(moments.length).toBeGreaterThan(16)
    expect(endedUs[16]! / 1000 - plannedMs).toBeLessThan(7 * 40_000 + 2000)
  })

  test('one that is done with every part at once makes nobody late', async () => {
    const { results } = await play(
      ['quick', 'slow'],
      (boxId, clock) =>
        ownMachine({
          devices: [boxId === 'quick' ? openReferenceDevice({ engine, facts: CARD }) : cardOn(new Card(clock))],
        }),
      { hours: 2, precisions: ALL },
    )
    expect(outcomes(results('slow'))).toEqual(['accepted', 'accepted'])
  })
})

describe('attack 136: of two boxes on one card one asks for a long part, the other for a short one', () => {
  const preset = { ...PRESETS.devnet, size: 64, openings: 4 }
  const asked = { preset, openings: 4, partSeconds: 3, sustainedSeconds: 0 }
  const never = new AbortController().signal

  async function played(waits: boolean) {
    let shared: Card | null = null
    const { results } = await play(
      ['a', 'b', 'c'],
      (boxId, clock) => {
        if (boxId === 'c') return ownMachine({ devices: [cardOn(new Card(clock, 60))] })
        shared ??= new Card(clock, 60)
        const card = shared
        let challenges = 0
        const round = async () => {
          await card.round()
          if (boxId === 'b' && challenges < 3) await clock.sleep(54)
        }
        const held: Parameters<NonNullable<Tampering['onAnswer']>>[0][] = []
        return tampered(ownMachine({ devices: [openReferenceDevice({ engine, facts: CARD, costs: { round } })] }), {
          onOrder: async (order, line) => {
            if (order.type === 'challenge') challenges++
            if (order.type === 'challenge' && challenges === 1 && boxId === 'a') await clock.sleep(20_000)
            if (waits && order.type === 'start' && challenges >= 3 && boxId === 'a') await card.idle(never)
            await line.order(order)
          },
          onAnswer: async (answer, line) => {
            if (boxId === 'b' || challenges >= 3 || answer.type !== 'root') return await line.answer(answer)
            // The roots of its calibration come in one go.
            held.push(answer)
            if (answer.index < (challenges === 1 ? 1 : 3)) return
            for (const one of held.splice(0)) await line.answer(one)
          },
        })
      },
      { hours: 1, asked },
    )
    return ['a', 'b', 'c'].map((id) => results(id)[0]!)
  }

  test.each([
    ['waits for the other', true],
    ['does not wait, and is faster when the other is done', false],
  ])('it %s, in vain: what may be late is a share of the time that was planned', async (_, waits) => {
    expect(outcomes(await played(waits))).toEqual(['WINDOW_MISSED', 'accepted', 'accepted'])
  })

  test('honest boxes whose calibrations were slower or faster than their runs all count', async () => {
    const speeds: Readonly<Record<string, number>> = { a: 0.6, b: 0.9, c: 1, d: 1.5 }
    const { results } = await play(
      Object.keys(speeds),
      (boxId, clock) => {
        let challenges = 0
        const round = () => clock.sleep(60 * (challenges < 3 ? speeds[boxId]! : 1))
        return tampered(ownMachine({ devices: [openReferenceDevice({ engine, facts: CARD, costs: { round } })] }), {
          onOrder: async (order, line) => {
            if (order.type === 'challenge') challenges++
            await line.order(order)
          },
        })
      },
      { hours: 1, asked },
    )
    for (const id of Object.keys(speeds)) expect(outcomes(results(id))).toEqual(['accepted'])
  })
})

describe('attack 137: two boxes show one memory, one after the other', () => {
  test.each([
    ['fills when the other is done', true, 'WINDOW_MISSED'],
    ['fills at once', false, 'accepted'],
  ])('a box that %s', async (_, waits, outcome) => {
    const never = new AbortController().signal
    let shared: Card | null = null
    const { results } = await play(
      ['a', 'b', 'c'],
      (boxId, clock) => {
        shared ??= new Card(clock)
        const card = waits && boxId !== 'c' ? shared : new Card(clock)
        const costs = { round: () => card.round(), fillRound: () => card.round(), pass: () => card.round() }
        return tampered(ownMachine({ devices: [openReferenceDevice({ engine, facts: CARD, costs })] }), {
          onOrder: async (order, line) => {
            // int8, fp16, sustained, memory.
            if (waits && boxId === 'b' && order.type === 'start' && order.part === 3) await card.idle(never)
            await line.order(order)
          },
        })
      },
      { hours: 1, asked: { memory: true, preset: { ...PRESETS.tiny, fixedRounds: 8, fixedPasses: 8 } } },
    )
    expect(outcomes(results('b'))[0]).toBe(outcome)
    for (const id of ['a', 'c']) expect(outcomes(results(id))).toEqual(['accepted'])
  })
})

describe('attack 154: two boxes on one card show more memory than it has', () => {
  /** `b` pauses its fill until the passes of `a` are over, if it waits, and takes what `a` has held. */
  async function played(waits: boolean) {
    let aIsDone = false
    const passesUs = new Map<string, number>()
    const { results } = await play(
      ['a', 'b', 'c'],
      (boxId, clock) => {
        const round = () => clock.sleep(ROUND_MS)
        let filled = 0
        const fillRound = async () => {
          await clock.sleep(boxId === 'b' ? 3 * ROUND_MS : ROUND_MS)
          // The first round of its fill fits beside that of the other; a calibration is not asked under `tiny`.
          if (waits && boxId === 'b' && filled++ > 0) while (!aIsDone) await clock.sleep(ROUND_MS)
        }
        const costs = { round, fillRound, pass: round }
        return tampered(ownMachine({ devices: [openReferenceDevice({ engine, facts: CARD, costs })] }), {
          onOrder: async (order, line) => {
            if (order.type === 'passes') passesUs.set(boxId, clock.monotonicUs())
            if (boxId === 'a' && order.type === 'reveal' && order.part === 3) aIsDone = true
            await line.order(order)
          },
        })
      },
      { hours: 1, asked: { memory: true, preset: { ...PRESETS.tiny, fixedRounds: 8, fixedPasses: 8 } } },
    )
    return { results: ['a', 'b', 'c'].map((id) => outcomes(results(id))[0]), passesUs }
  }

  test('one that fills when the other is done does not count', async () => {
    const { results } = await played(true)
    expect(results).toEqual(['accepted', 'LATE_ROOT', 'accepted'])
  })

  test('all that hold a fill begin their passes in the same moment, however long they filled', async () => {
    const { results, passesUs } = await played(false)
    expect(results).toEqual(['accepted', 'accepted', 'accepted'])
    const momentsUs = [...passesUs.values()]
    expect(momentsUs).toHaveLength(3)
    expect(Math.max(...momentsUs) - Math.min(...momentsUs)).toBeLessThan(1000)
  })
})

describe('attack 163: of two boxes on one card one answers pings late, so that its passes must last long', () => {
  const PASS_MS = 60

  /** `late` lets `quick` read first, alone, and then reads alone: of its long passes that is little. */
  async function played(pongMs: number): Promise<number> {
    const preset = { ...PRESETS.mainnet, size: 64, fillBytes: 2 ** 14, openings: 4 }
    const asked = { preset, openings: 4, partSeconds: 3, sustainedSeconds: 0, memory: true }
    let shared: Card | null = null
    let quickReads = false
    const { results } = await play(
      ['quick', 'late', 'c'],
      (boxId, clock) => {
        if (boxId === 'quick' || boxId === 'late') shared ??= new Card(clock, PASS_MS)
        const card = boxId === 'c' ? new Card(clock, PASS_MS) : shared!
        let challenges = 0
        const pass = async () => {
          if (boxId === 'late' && challenges >= 3) while (quickReads) await clock.sleep(1)
          await card.round()
        }
        const round = () => clock.sleep(PASS_MS)
        const facts = { ...CARD, precisions: ['int8'] as const }
        const device = openReferenceDevice({ engine, facts, costs: { round, fillRound: round, pass } })
        return tampered(ownMachine({ devices: [device] }), {
          onOrder: async (order, line) => {
            if (order.type === 'challenge') challenges++
            if (boxId === 'late' && order.type === 'ping') await clock.sleep(pongMs)
            if (boxId === 'quick' && challenges >= 3 && (order.type === 'passes' || order.type === 'reveal'))
              quickReads = order.type === 'passes'
            // By then the other has begun.
            if (boxId === 'late' && order.type === 'passes') await clock.sleep(1)
            await line.order(order)
          },
        })
      },
      { hours: 1, precisions: ['int8'], asked },
    )
    const [quick, late, alone] = ['quick', 'late', 'c'].map((id) => {
      const { figures } = results(id)[0]!.result
      return figures.find(({ name }) => name === 'memory.bytes_per_second')?.value ?? 0
    })
    return (quick! + late!) / alone!
  }

  test.each([300, 900])('by %i ms: together they read no faster than the card', async (pongMs) => {
    expect(await played(pongMs)).toBeLessThan(1.3)
  })
})

describe('attacks 138 and 164: of two boxes on one card one has a part so long that it can let the other go first', () => {
  const CARD_MS = 60

  /**
   * `quick` is slow in its calibrations, so that its part is short, and has the card first. `slow` is several devices of the
   * same card, of which the first is fast in its calibrations, so that all of them get as many rounds as that one could do.
   * It may hold its roots for a while, so that nobody sees how it began.
   */
  async function played(base: Preset, devices = 4, holdMs = 0): Promise<number> {
    const preset = { ...base, size: 64, openings: 4 }
    const asked = { preset, openings: 4, partSeconds: 3, sustainedSeconds: 0 }
    let shared: Card | null = null
    let quickWorks = false
    const { results } = await play(
      ['quick', 'slow', 'c'],
      (boxId, clock) => {
        if (boxId === 'c') return ownMachine({ devices: [cardOn(new Card(clock, CARD_MS))] })
        shared ??= new Card(clock, CARD_MS)
        const card = shared
        const isQuick = boxId === 'quick'
        let challenges = 0
        const round = async (device: number) => {
          if (challenges < 3) await clock.sleep(isQuick ? 54 : 150 * device)
          else if (!isQuick) for (await clock.sleep(1); quickWorks; ) await clock.sleep(1)
          await card.round()
        }
        const own = Array.from({ length: isQuick ? 1 : devices }, (_, device) =>
          openReferenceDevice({ engine, facts: CARD, costs: { round: () => round(device) } }),
        )
        const held: Uint8Array[] = []
        let startedUs = 0
        return tampered(ownMachine({ devices: own }), {
          onAnswer: async (answer, line) => {
            const isHeld = !isQuick && challenges >= 3 && answer.type === 'root' && answer.part < 2
            if (!isHeld) return await line.answer(answer)
            held.push(encodeFrame(answer))
            // In one go: they arrive at one instant.
            if (clock.monotonicUs() - startedUs >= 1000 * holdMs) await line.raw(concatBytes(...held.splice(0)))
          },
          onOrder: async (order, line) => {
            if (order.type === 'start') startedUs = clock.monotonicUs()
            if (order.type === 'challenge') challenges++
            if (order.type === 'challenge' && challenges === 1 && !isQuick) await clock.sleep(20_000)
            if (isQuick) quickWorks = order.type === 'start' && challenges >= 3
            await line.order(order)
          },
        })
      },
      { hours: 1, asked },
    )
    expect(outcomes(results('c'))).toEqual(['accepted'])
    const figures = ['quick', 'slow'].flatMap((id) => results(id)[0]!.result.figures)
    const rates = figures.filter(({ name }) => name === 'rate.int8.per_second').map(({ value }) => value)
    return rates.reduce((sum, rate) => sum + rate, 0) / ((64 * 64 * 64 * 2) / (CARD_MS / 1000))
  }

  test.each([PRESETS.devnet, PRESETS.custom])('$name: together they show no more than the card', async (preset) => {
    expect(await played(preset)).toBeLessThan(1.1)
  })

  test('holding its first roots for 7 s of 20 gains nothing', async () => {
    expect(await played(PRESETS.devnet, 8, 7000)).toBeLessThan(1.1)
  })
})
