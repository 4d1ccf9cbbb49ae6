import { expect, test } from 'vitest'
import { ownMachine, type ProverProgram, tampered } from '../../../../test/support/inProcessBox.ts'
import { openReferenceDevice } from '../../../../test/support/openReferenceDevice.ts'
import { CARD, Card, cardOn, engine, outcomes, play } from '../../../../test/support/playFleet.ts'
import type { VirtualClock } from '../../../../test/support/virtualClock.ts'
import { concatBytes } from '../../../core/bytes/bytes.ts'
import { PRESETS } from '../../../core/params/presets.ts'
import { encodeFrame } from '../../../core/wire/frames.ts'

const ROUND_MS = 150
const DEVICES = 5
const PRECISIONS = ['int8'] as const

/** One card, and whether the quick box is at work on it. */
interface Shared {
  readonly card: Card
  quickWorks: boolean
}

/** Calibrates as if it were slow, so that its rounds are few, and begins when the quick box is done. */
function slowBox(shared: Shared, clock: VirtualClock): ProverProgram {
  const done = new Map<number, number>()
  const held: Uint8Array[] = []
  let [challenges, part, startedUs, lastsMs] = [0, 0, 0, 0]
  const sinceMs = () => (clock.monotonicUs() - startedUs) / 1000
  const round = async (device: number) => {
    if (challenges < 3) return await clock.sleep(2500)
    if (part > 0) return await shared.card.round()
    const before = done.get(device) ?? 0
    done.set(device, before + 1)
    const dueMs = ((before + 1) * lastsMs) / 8
    if (before === 0)
      do await clock.sleep(1)
      while (shared.quickWorks)
    else await clock.sleep(Math.max(0, dueMs - 1900 - sinceMs()))
    await shared.card.round()
    await clock.sleep(Math.max(0, dueMs - sinceMs()))
  }
  const devices = Array.from({ length: DEVICES }, (_, device) =>
    openReferenceDevice({
      engine,
      facts: { ...CARD, precisions: PRECISIONS },
      costs: { round: () => round(device) },
    }),
  )
  return tampered(ownMachine({ devices }), {
    onAnswer: async (answer, line) => {
      if (challenges < 3 || part > 0 || answer.type !== 'root') return await line.answer(answer)
      // The roots of all devices arrive at one instant.
      held.push(encodeFrame(answer))
      if (held.length < DEVICES) return
      if (answer.index === 0) lastsMs = Math.max(4000 * DEVICES + 50, 6.4 * 1.01 * sinceMs())
      await line.raw(concatBytes(...held.splice(0)))
    },
    onOrder: async (order, line) => {
      if (order.type === 'challenge') challenges++
      if (order.type === 'start') {
        startedUs = clock.monotonicUs()
        part = order.part
        done.clear()
      }
      await line.order(order)
    },
  })
}

/** Calibrates at half its speed, and has the card for itself. */
function quickBox(shared: Shared, clock: VirtualClock): ProverProgram {
  let challenges = 0
  const round = () => (challenges < 3 ? clock.sleep(290) : shared.card.round())
  const devices = [openReferenceDevice({ engine, facts: { ...CARD, precisions: PRECISIONS }, costs: { round } })]
  return tampered(ownMachine({ devices }), {
    onOrder: async (order, line) => {
      if (order.type === 'challenge') challenges++
      shared.quickWorks = order.type === 'start' && challenges >= 3
      await line.order(order)
    },
  })
}

test('attack 400: boxes that calibrate slowly and begin when another is done do not hold a card twice', async () => {
  const preset = { ...PRESETS.mainnet, size: 64, openings: 4 }
  const asked = { preset, openings: 4, partSeconds: 3, sustainedSeconds: 0 }
  const [slow, honest] = [['slow 1', 'slow 2'], 'honest']
  let shared: Shared | null = null
  const { results } = await play(
    ['quick', ...slow, honest],
    (boxId, clock) => {
      if (boxId === honest) return ownMachine({ devices: [cardOn(new Card(clock, ROUND_MS))] })
      shared ??= { card: new Card(clock, ROUND_MS), quickWorks: false }
      return boxId === 'quick' ? quickBox(shared, clock) : slowBox(shared, clock)
    },
    { hours: 1, precisions: PRECISIONS, asked },
  )
  const ends = Object.fromEntries(['quick', ...slow, honest].map((id) => [id, outcomes(results(id))[0]]))
  expect(ends).toEqual({ quick: 'accepted', 'slow 1': 'WINDOW_MISSED', 'slow 2': 'WINDOW_MISSED', honest: 'accepted' })
})
