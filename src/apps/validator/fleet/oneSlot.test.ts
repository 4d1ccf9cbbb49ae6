import { expect, test } from 'vitest'
import { testRules } from '../../../../test/support/fleetKit.ts'
import { ownMachine, tampered } from '../../../../test/support/inProcessBox.ts'
import { ReferenceDevice } from '../../../../test/support/openReferenceDevice.ts'
import { AT_ONCE, CARD, Card, engine, outcomes, play } from '../../../../test/support/playFleet.ts'
import type { VirtualClock } from '../../../../test/support/virtualClock.ts'
import { PRECISION_NAMES, type Precision } from '../../../core/params/precision.ts'
import { PRESETS } from '../../../core/params/presets.ts'
import type { OnRoot, SeriesTask } from '../../../ports/device.ts'

/** In the order of a run: two calibrations, the short part, the sustained one. */
const MOMENTS = ['sizing', 'timing', 'short', 'sustained'] as const
/** The most that a box takes of the card in each; all of it where nothing is said. */
type Pace = Partial<Record<(typeof MOMENTS)[number], number>>
type Paces = Partial<Record<Precision, Pace>>

const ROUND_MS = 20

class Paced extends ReferenceDevice {
  readonly #runs = new Map<Precision, number>()
  readonly #card: Card
  readonly #clock: VirtualClock
  readonly #paces: Paces

  constructor(card: Card, clock: VirtualClock, paces: Paces, precisions: readonly Precision[]) {
    super({ engine, facts: { ...CARD, precisions } })
    this.#card = card
    this.#clock = clock
    this.#paces = paces
  }

  override async runSeries(task: SeriesTask, onRoot: OnRoot, signal: AbortSignal): Promise<void> {
    const run = this.#runs.get(task.precision) ?? 0
    this.#runs.set(task.precision, run + 1)
    const pace = this.#paces[task.precision]?.[MOMENTS[run]!] ?? 1
    const beganUs = this.#clock.monotonicUs()
    let rounds = 0
    this.costs.round = async () => {
      await this.#card.round()
      const dueMs = (++rounds * ROUND_MS) / pace
      const nowMs = (this.#clock.monotonicUs() - beganUs) / 1000
      if (pace < 1) await this.#clock.sleep(Math.max(0, dueMs - nowMs))
    }
    await super.runSeries(task, onRoot, signal)
  }
}

test('attack 491: two boxes on one card sustain different precisions, and are paid no more than the card', async () => {
  const asked = {
    preset: { ...PRESETS.mainnet, name: 'devnet', size: 64, openings: 4 },
    openings: 4,
    partSeconds: 3,
    sustainedSeconds: 20,
  } as const
  const { score: usual } = await testRules()
  // Full marks: what a card for games shows in fp32 is worth more than what it shows in all else.
  const rates = { int8: 1, fp8: 1, bf16: 1, fp16: 1, fp32: 0.1 }
  let shared: Card | null = null
  const { results } = await play(
    ['all', 'fp32', 'honest'],
    (boxId, clock) => {
      shared ??= new Card(clock, ROUND_MS)
      const on = (card: Card, paces: Paces, precisions: readonly Precision[]) =>
        ownMachine({ devices: [new Paced(card, clock, paces, precisions)] })
      if (boxId === 'honest') return on(new Card(clock, ROUND_MS), {}, PRECISION_NAMES)
      // It has the card in every short part, and leaves it to the other while both are sustained.
      if (boxId === 'all') return on(shared, { bf16: { timing: 0.55, sustained: 0.15 } }, PRECISION_NAMES)
      // Calibrated when the other is done with that.
      return tampered(on(shared, { fp32: { timing: 0.55, short: 0.1 } }, ['fp32']), {
        onAnswer: async (answer, line) => {
          if (answer.type === 'welcome') await clock.sleep(25_000)
          await line.answer(answer)
        },
      })
    },
    { hours: 1, precisions: PRECISION_NAMES, asked, score: { ...usual, reference: { ...usual.reference, rates } } },
  )
  const paid = (boxId: string) => {
    const own = results(boxId)
    expect(outcomes(own)).toEqual(['accepted'])
    expect(own[0]!.box.scored).toBe(true)
    return own[0]!.box.score
  }
  expect((paid('all') + paid('fp32')) / paid('honest')).toBeLessThan(AT_ONCE)
})
