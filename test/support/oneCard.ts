import fc from 'fast-check'
import type { ProtocolVersion } from '../../src/core/params/constants.ts'
import { countedPerSecond } from '../../src/core/proof/figures.ts'
import type { Run } from '../../src/core/proof/verifyPart.ts'

const PRODUCT = { precision: 'int8', m: 64, n: 64, k: 64, mask: 0 }
const WORK = 2 * 64 ** 3
/** Bytes that a pass reads of each kept round: four tiles of 2048 bytes and their partners. */
const PASS_BYTES = 2 * 2048 * 4

/** A rounds part with these arrivals, one list per device. */
export function runOf(arrivals: readonly (readonly number[])[]): Run {
  const part = { ...PRODUCT, kind: 'rounds', rounds: arrivals[0]!.length, kept: [] }
  const devices = arrivals.map((arrivalsUs, device) => ({ device, arrivalsUs, roots: [], openings: new Uint8Array(0) }))
  return { challenge: { parts: [part] }, parts: [{ zSentUs: null, devices }] } as unknown as Run
}

const Z_SENT_US = 5_000_000

/** A memory part whose passes arrived so many microseconds after Z_0, over fills of so many kept rounds. */
function passesOf(arrivals: readonly (readonly number[])[], kept: readonly number[]): Run {
  const part = { ...PRODUCT, kind: 'memory', rounds: arrivals[0]!.length, kept }
  const devices = arrivals.map((passes, device) => ({
    device,
    arrivalsUs: [...Array<number>(kept[device]!).fill(1), ...passes.map((passUs) => Z_SENT_US + passUs)],
    roots: [],
    openings: new Uint8Array(0),
  }))
  return { challenge: { parts: [part] }, parts: [{ zSentUs: Z_SENT_US, devices }] } as unknown as Run
}

/** All rates counted together, in cards that need so many microseconds for a round. */
export const cardsShown = (run: Run, rules: ProtocolVersion, roundUs: number, work = WORK): number =>
  countedPerSecond(run, rules).reduce((sum, rate) => sum + rate, 0) / Math.floor((work * 1e6) / roundUs)

/** How one card divides its time among series, and when it hands over what it has. */
interface Schedule {
  readonly devices: number
  readonly rounds: number
  /** What the card needs for a round, or for the pass over one kept round. */
  readonly roundUs: number
  /** Kept rounds of each device in a memory part, which need not be alike; null in a rounds part. */
  readonly kept: readonly number[] | null
  /** Which series the card works on next, and for how long: less than a round is preemption, many rounds a burst. */
  readonly slices: readonly { readonly series: number; readonly us: number }[]
  /** Roots wait until so many are there, or until a multiple of `everyUs`; 1 sends them at once. */
  readonly hold: readonly { readonly count: number; readonly everyUs: number }[]
}

/** Any way at all to serve 2 to 32 series with one card: in turn, preemptive, in bursts, roots sent at once or withheld. */
export function oneCardSchedule(): fc.Arbitrary<Schedule> {
  const shape = fc.record({
    devices: fc.integer({ min: 2, max: 32 }),
    rounds: fc.integer({ min: 8, max: 40 }),
    roundUs: fc.constantFrom(1, 7, 1000, 33_331),
  })
  return shape.chain(({ devices, rounds, roundUs }) => {
    const us = fc.oneof(
      fc.integer({ min: 1, max: roundUs }),
      fc.constant(roundUs),
      fc.integer({ min: 1, max: rounds }).map((many) => many * roundUs),
    )
    const slice = fc.record({ series: fc.nat(devices - 1), us })
    const held = fc.record({
      count: fc.oneof(fc.constant(1), fc.integer({ min: 1, max: rounds })),
      everyUs: fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 8 * roundUs })),
    })
    return fc.record({
      devices: fc.constant(devices),
      rounds: fc.constant(rounds),
      roundUs: fc.constant(roundUs),
      kept: fc.option(fc.array(fc.integer({ min: 2, max: 9 }), { minLength: devices, maxLength: devices })),
      slices: fc.array(slice, { minLength: 1, maxLength: 64 }),
      hold: fc.oneof(
        fc.constant(Array.from({ length: devices }, () => ({ count: 1, everyUs: 1 }))),
        fc.array(held, { minLength: devices, maxLength: devices }),
      ),
    })
  })
}

/** What a validator sees of it. The card is never idle, which is the best that it can do. */
function arrivalsOf({ devices, rounds, roundUs, kept, slices, hold }: Schedule): number[][] {
  const costUs = (device: number) => roundUs * (kept?.[device] ?? 1)
  const spent = Array<number>(devices).fill(0)
  const done = Array.from({ length: devices }, () => [] as number[])
  let now = 0
  for (let turn = 0; done.some((list) => list.length < rounds); turn++) {
    const { series, us } = slices[turn % slices.length]!
    let next = (series + (turn >= slices.length ? turn : 0)) % devices
    while (done[next]!.length === rounds) next = (next + 1) % devices
    const cost = costUs(next)
    const used = Math.min(us, rounds * cost - spent[next]!)
    while (done[next]!.length < Math.floor((spent[next]! + used) / cost))
      done[next]!.push(now + (done[next]!.length + 1) * cost - spent[next]!)
    spent[next]! += used
    now += used
  }
  return done.map((list, d) => withheld(list, hold[d]!))
}

function withheld(done: readonly number[], { count, everyUs }: Schedule['hold'][number]): number[] {
  return done.map((_, i) => {
    const last = done[Math.min(done.length - 1, count * (Math.floor(i / count) + 1) - 1)]!
    return everyUs * Math.ceil(last / everyUs)
  })
}

/** The schedule that gains most of so many, as the cards that one card is counted for. */
export function worstOf(schedules: fc.Arbitrary<Schedule>, rules: ProtocolVersion, runs: number) {
  let worst = { ratio: 0, devices: 0 }
  fc.assert(
    fc.property(schedules, (schedule) => {
      const { kept, roundUs } = schedule
      const arrivals = arrivalsOf(schedule)
      const ratio = kept
        ? cardsShown(passesOf(arrivals, kept), rules, roundUs, PASS_BYTES)
        : cardsShown(runOf(arrivals), rules, roundUs)
      if (ratio > worst.ratio) worst = { ratio, devices: schedule.devices }
    }),
    { numRuns: runs, seed: 71 },
  )
  return worst
}
