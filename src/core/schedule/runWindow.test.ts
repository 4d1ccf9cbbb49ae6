import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readCertificate } from '../certificate/readEvidence.ts'
import { PRESETS } from '../params/presets.ts'
import type { Run } from '../proof/verifyPart.ts'
import { type HeardBy, isHeldBack, isInWindow, WINDOW_SLACK_US, windowOf } from './runWindow.ts'

const part = fc.record({ openedUs: fc.nat(600_000_000), one: lateness(), other: lateness() })

function lateness() {
  return fc.record({
    lateUs: fc.integer({ min: -10, max: 1.5 * WINDOW_SLACK_US }),
    lastsUs: fc.integer({ min: 1, max: 60_000_000 }),
  })
}

const runOf = (startedUs: readonly number[]) => ({ fromUs: startedUs[0] ?? 0, untilUs: 0, startedUs, heldBack: false })

test('attack 77: every part that two runs that count have in common was under way in both at once', () => {
  let counted = 0
  fc.assert(
    fc.property(fc.array(part, { minLength: 1, maxLength: 3 }), (parts) => {
      const openedUs = parts.map(({ openedUs: at }) => at)
      const counts = (who: 'one' | 'other') =>
        isInWindow(runOf(parts.map((each) => each.openedUs + each[who].lateUs)), openedUs)
      if (!counts('one') || !counts('other')) return
      counted++
      for (const { one, other } of parts) {
        const overlapUs =
          Math.min(one.lateUs + one.lastsUs, other.lateUs + other.lastsUs) - Math.max(one.lateUs, other.lateUs)
        expect(overlapUs).toBeGreaterThanOrEqual(Math.min(one.lastsUs, other.lastsUs) - WINDOW_SLACK_US)
      }
    }),
    { numRuns: 1000 },
  )
  expect(counted).toBeGreaterThan(50)
})

test('attack 77: a run that began a part before the others, after them, or again, does not count', () => {
  const opened = [1_000_000, 9_000_000, null]
  expect(isInWindow(runOf([1_000_000, 9_000_000 + WINDOW_SLACK_US]), opened)).toBe(true)
  expect(isInWindow(runOf([1_000_000]), opened)).toBe(true)
  expect(isInWindow(runOf([999_999, 9_000_000]), opened)).toBe(false)
  expect(isInWindow(runOf([1_000_000, 9_000_001 + WINDOW_SLACK_US]), opened)).toBe(false)
  expect(isInWindow(runOf([31_000_000, 39_000_000]), opened)).toBe(false)
  expect(isInWindow(runOf([1_000_000, 9_000_000, 20_000_000]), opened)).toBe(false)
  expect(isInWindow(runOf([1_000_000, 9_000_000, 20_000_000, 30_000_000]), opened)).toBe(false)
})

test('attack 77: who lets another go first is seen by its pace, whatever else it does; who works from the start is not', () => {
  const second = 1_000_000
  const evenly = (rounds: number) => Array.from({ length: rounds }, (_, i) => (i + 1) * second)
  fc.assert(
    fc.property(fc.integer({ min: 8, max: 200 }), fc.double({ min: 1, max: 3, noNaN: true }), (rounds, fades) => {
      expect(isHeldBack(evenly(rounds))).toBe(false)
      expect(isHeldBack(evenly(rounds).map((atUs) => atUs ** fades))).toBe(false)
      expect(isHeldBack(evenly(rounds).map((atUs) => atUs + rounds * second))).toBe(true)
    }),
  )
  expect(isHeldBack([900, 901, 902, 903])).toBe(false) // too short to have a pace
  expect(isInWindow({ ...runOf([1_000_000]), heldBack: true }, [1_000_000])).toBe(false)
})

test('attack 77: two boxes on one card that hold nothing back show at most 1.25 of it in a part', () => {
  const rounds = 40
  // One round of the card at a time, for whoever's turn it is; who has all of its rounds leaves the card to the other.
  const most = (turns: readonly number[]) => {
    const arrivals: [number[], number[]] = [[], []]
    for (const [i, turn] of turns.entries())
      arrivals[arrivals[turn]!.length < rounds ? turn : 1 - turn]!.push((i + 1) * 1_000_000)
    if (arrivals.some((times) => isHeldBack(times))) return 0
    return arrivals.reduce((sum, times) => sum + (rounds * 1_000_000) / times.at(-1)!, 0)
  }
  const turn = fc.record({ who: fc.nat(1), times: fc.integer({ min: 1, max: rounds }) })
  const schedule = fc.array(turn, { maxLength: 12 }).map((some) => {
    const turns = some.flatMap(({ who, times }) => Array.from({ length: times }, () => who))
    return [...turns, ...Array.from({ length: 2 * rounds }, (_, i) => i % 2)].slice(0, 2 * rounds)
  })
  fc.assert(
    fc.property(schedule, (turns) => {
      expect(most(turns)).toBeLessThanOrEqual(1.25)
    }),
    { numRuns: 2000 },
  )
  // The best that a long search has found, and what it would be without the rule: one after the other.
  const found = '00110100111001000011110011110011111111110110111111111111100000000000000000000000'
  expect(most([...found].map(Number))).toBeCloseTo(1.2, 2)
  expect(most([...found].map((_, i) => Number(i >= rounds)))).toBe(0)
})

function realRun(name: string): Run {
  const text = readFileSync(new URL(`../../../bench/fixtures/${name}.json`, import.meta.url), 'latin1')
  const read = readCertificate(text, () => true)
  if ('code' in read) throw new Error(read.code)
  return read.run
}

const holdsBack = (run: Run, roundTripUs = 0, heardBy?: HeardBy, openedBy?: HeardBy): boolean => {
  const startedUs = run.parts.map(() => 0)
  return windowOf({ run, preset: PRESETS.mainnet, roundTripUs }, startedUs, { heardBy, openedBy })!.heldBack
}

test.each(['h200-mainnet', 'h200-mainnet-2'])(
  'attack 137: a real card held nothing back, in any phase of any part: %s',
  (name) => {
    const run = realRun(name)
    expect(run.parts.length).toBeGreaterThan(3)
    expect(holdsBack(run)).toBe(false)
  },
)

test('attack 138: what counts of a part is bound to what was done by the time that every part lasts', () => {
  const run = realRun('h200-mainnet-2')
  const at = (timeOf: (root: number, of: number) => number): Run => {
    const [first, ...parts] = run.parts
    const devices = first!.devices.map((one) => {
      const arrivalsUs = one.arrivalsUs.map((_, root) => Math.round(1e6 * timeOf(root + 1, one.arrivalsUs.length)))
      return { ...one, arrivalsUs }
    })
    return { ...run, parts: [{ ...first!, devices }, ...parts] }
  }
  expect(holdsBack(at((root, of) => (3 * root) / of))).toBe(false)
  // As over a line of 300 ms.
  expect(holdsBack(at((root, of) => 0.3 + (3 * root) / of))).toBe(false)
  // It does everything in the first half, which counts, leaves the card to another, and sends its last root in time.
  expect(holdsBack(at((root, of) => (root < of ? (0.85 * root) / of : 1.6)))).toBe(true)
  // Over before anybody has seen how fast it is.
  expect(holdsBack(at((root, of) => (1.4 * root) / of))).toBe(true)
  // A third of its speed while another is at work, and all of it later.
  expect(holdsBack(at((root, of) => Math.min(0.2 * root, 1 + (2 * root) / of)))).toBe(true)
})

test('attack 154: what counts of the passes over a memory is bound in the same way, and their start is one of the window', () => {
  const run = realRun('h200-mainnet-2')
  const p = run.challenge.parts.findIndex(({ kind }) => kind === 'memory')
  const { rounds: passes, kept } = run.challenge.parts[p]!
  const { zSentUs } = run.parts[p]!
  const at = (timeOf: (pass: number) => number): Run => {
    const parts = run.parts.map((part, i) => {
      if (i !== p) return part
      const devices = part.devices.map((one) => {
        const passesUs = Array.from({ length: passes }, (_, pass) => zSentUs! + Math.round(1e6 * timeOf(pass + 1)))
        return { ...one, arrivalsUs: [...one.arrivalsUs.slice(0, kept[0]), ...passesUs] }
      })
      return { ...part, devices }
    })
    return { ...run, parts }
  }
  expect(holdsBack(at((pass) => (2.5 * pass) / passes))).toBe(false)
  // All of them while the other pauses, and the last one in time.
  expect(holdsBack(at((pass) => (pass < passes ? (1.2 * pass) / passes : 2.1)))).toBe(true)
  // Few of them while the other is at work, and the rest later.
  expect(holdsBack(at((pass) => (pass < 0.4 * passes ? (8 * pass) / passes : 2.2 + (2.5 * pass) / passes)))).toBe(true)
  // An honest box over a line of 300 ms; and one that only answers pings that late (attack 163).
  expect(
    holdsBack(
      at((pass) => 0.3 + (2.5 * pass) / passes),
      300_000,
    ),
  ).toBe(false)
  expect(
    holdsBack(
      at((pass) => 2.2 + (18 * pass) / passes),
      300_000,
    ),
  ).toBe(true)
  const t0Us = run.parts.map((_, i) => i * 60_000_000)
  const { startedUs } = windowOf({ run, preset: PRESETS.mainnet, roundTripUs: 0 }, t0Us)!
  expect(startedUs).toHaveLength(run.parts.length + 1)
  expect(startedUs[p + 1]! - startedUs[p]!).toBe(zSentUs)
})

test('attack 259: a stall of our own thread makes no run void that would have counted, nor one count that would not', () => {
  const run = realRun('h200-mainnet-2')
  /** Roots of the first part as a thread stamps them that hears nothing in between. */
  const stamped = (secondsOf: (root: number, of: number) => number, [fromUs, toUs]: readonly [number, number]): Run => {
    const [first, ...parts] = run.parts
    const devices = first!.devices.map((one) => {
      const cameUs = one.arrivalsUs.map((_, root) => Math.round(1e6 * secondsOf(root + 1, one.arrivalsUs.length)))
      return { ...one, arrivalsUs: cameUs.map((us) => (us >= fromUs && us < toUs ? toUs : us)) }
    })
    return { ...run, parts: [{ ...first!, devices }, ...parts] }
  }
  const heardBy =
    ([fromUs, toUs]: readonly [number, number]): HeardBy =>
    (atUs) =>
      atUs >= fromUs && atUs < toUs ? toUs : atUs
  const even = (root: number, of: number) => (3 * root) / of
  const stall = [1_050_000, 1_600_000] as const
  expect(holdsBack(stamped(even, stall))).toBe(true)
  expect(holdsBack(stamped(even, stall), 0, heardBy(stall))).toBe(false)
  // A third of its speed while another is at work, and all of it later: in any stall.
  const later = (root: number, of: number) => Math.min(0.2 * root, 1 + (2 * root) / of)
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2_000_000 }), fc.integer({ min: 0, max: 600_000 }), (fromUs, lastsUs) => {
      const some = [fromUs, fromUs + lastsUs] as const
      expect(holdsBack(stamped(even, some), 0, heardBy(some))).toBe(false)
    }),
    { numRuns: 50 },
  )
  expect(holdsBack(stamped(later, stall), 0, heardBy(stall))).toBe(true)
})

test('attack 275: a stall that begins between the L of one box and that of another puts off neither alone', () => {
  const run = realRun('h200-mainnet-2')
  const [first, ...parts] = run.parts
  const lateUs = 20_000
  // 0.3 of the card while another has the rest, all of it in the stall, and 0.4 afterwards: 0.4 in all.
  const secondsOf = (share: number) => (share <= 0.45 ? share / 0.3 : share <= 0.7 ? share + 1.05 : share / 0.4)
  const devices = first!.devices.map((one) => {
    const { length } = one.arrivalsUs
    return {
      ...one,
      arrivalsUs: one.arrivalsUs.map((_, root) => Math.round(1e6 * secondsOf((1.2 * (root + 1)) / length))),
    }
  })
  const shared = { ...run, parts: [{ ...first!, devices }, ...parts] }
  const heardBy: HeardBy = (atUs) => (atUs >= 1_490_000 && atUs < 1_750_000 ? 1_750_000 : atUs)
  expect(holdsBack(shared)).toBe(true)
  expect(holdsBack(shared, 0, heardBy)).toBe(false)
  expect(holdsBack(shared, 0, heardBy, (startedUs) => startedUs - lateUs)).toBe(true)
})

describe('attack 408: rounds under way', () => {
  const run = realRun('h200-mainnet-2')
  const part = run.challenge.parts[0]!
  /** The first part by so many devices that all take turns, `roots` each; of a card that does 50 rounds a second. */
  const inTurns = (devices: number, timeOf: (device: number, root: number) => number, roots: number): Run => ({
    challenge: {
      ...run.challenge,
      deviceCount: devices,
      parts: [{ ...part, mask: 2 ** devices - 1, rounds: roots, kept: Array(devices).fill(0) }],
    },
    parts: [
      {
        ...run.parts[0]!,
        devices: Array.from({ length: devices }, (_, device) => ({
          ...run.parts[0]!.devices[0]!,
          device,
          roots: Array.from({ length: roots }, () => run.parts[0]!.devices[0]!.roots[0]!),
          arrivalsUs: Array.from({ length: roots }, (_, root) => Math.round(1e6 * timeOf(device, root))),
        })),
      },
    ],
  })

  test('of many devices on one card count for as much as the box does in a twentieth of a second', () => {
    // 17 devices: a root each between 1 and 1.5 s, one more until 2 s, and then on at the pace of 0.42 of the card.
    const pace = 17 / (0.42 * 50)
    const shared = inTurns(
      17,
      (device, root) => 1 + (device + 1) / 34 + (root === 0 ? 0 : 0.499 + pace * (root - 1)),
      12,
    )
    expect(holdsBack(shared)).toBe(true)
    // The same at that pace from the beginning.
    expect(holdsBack(inTurns(17, (device, root) => ((device + 1) / 17 + root) * pace, 12))).toBe(false)
  })

  test.each([0, 0.15])('an honest card whose rounds take 0.2 s counts over a line of %f s', (line) => {
    expect(holdsBack(inTurns(1, (_, root) => line + 0.2 * (root + 1), 16))).toBe(false)
  })

  test('attack 422: who begins later than others has done less in the same time', () => {
    const even = inTurns(1, (_, root) => 0.1 * (root + 1), 32)
    const letGo = (lateUs: number) => holdsBack(even, 0, undefined, (startedUs) => startedUs - lateUs)
    expect([letGo(0), letGo(60_000), letGo(500_000)]).toEqual([false, false, true])
  })
})
