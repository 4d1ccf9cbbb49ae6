import { expect, test } from 'vitest'
import { ownMachine, tampered } from '../../../../test/support/inProcessBox.ts'
import { ReferenceDevice } from '../../../../test/support/openReferenceDevice.ts'
import { CARD, engine, mainnetAsk, outcomes, play } from '../../../../test/support/playFleet.ts'
import type { VirtualClock } from '../../../../test/support/virtualClock.ts'
import { PRECISION_NAMES } from '../../../core/params/precision.ts'

const ROUND_MS = 60
const KEPT = 64
const asked = mainnetAsk(KEPT)
const DAWDLERS = ['x0', 'x1', 'x2', 'x3', 'x4', 'x5']

/** An honest box whose memory takes so long to fill. */
function honestBox(clock: VirtualClock, fillSeconds: number) {
  let kept = 0
  class Filled extends ReferenceDevice {
    override async fill(...given: Parameters<ReferenceDevice['fill']>): Promise<void> {
      kept = given[0].kept
      await super.fill(...given)
    }
  }
  const costs = {
    round: () => clock.sleep(ROUND_MS),
    fillRound: () => clock.sleep((1000 * fillSeconds) / KEPT),
    // A pass takes as long as there is to read.
    pass: () => clock.sleep((ROUND_MS * kept) / KEPT),
  }
  const facts = { ...CARD, precisions: PRECISION_NAMES }
  return ownMachine({ devices: [new Filled({ engine, facts, costs })] })
}

/** Takes nearly all of the time that its openings may, in a part that is its own among those who do the same. */
function dawdling(clock: VirtualClock, own: number) {
  let challenges = 0
  return tampered(honestBox(clock, 6), {
    onOrder: async (order, line) => {
      if (order.type === 'challenge') challenges++
      if (challenges >= 3 && order.type === 'reveal' && order.part === own)
        await clock.sleep(own === 5 ? 58_000 : 51_000)
      await line.order(order)
    },
  })
}

/** Comes to the start when its time is nearly over. */
function lastReady(clock: VirtualClock) {
  let said = 0
  let hasPonged = false
  return tampered(honestBox(clock, 6), {
    onAnswer: async (answer, line) => {
      if (['welcome', 'inventory', 'ready'].includes(answer.type) && said++ < 5) await clock.sleep(57_000)
      if (answer.type === 'pong' && !hasPonged) {
        hasPonged = true
        await clock.sleep(35_000)
      }
      await line.answer(answer)
    },
  })
}

test.each([
  ['quick ones', 120, [] as readonly string[]],
  ['boxes that use up what a cohort waits for', 80, [...DAWDLERS, 'last']],
])('attack 495: beside %s an honest box that fills its memory in %i s is paid', async (_, seconds, others) => {
  const { results } = await play(
    ['slow', 'quick', ...others],
    (boxId, clock) => {
      if (boxId === 'last') return lastReady(clock)
      if (boxId.startsWith('x')) return dawdling(clock, Number(boxId.slice(1)))
      return honestBox(clock, boxId === 'slow' ? seconds : 6)
    },
    { hours: 1, precisions: PRECISION_NAMES, asked, checkMs: 4_000, cohortSize: 16, concurrency: 16 },
  )
  for (const id of ['slow', 'quick', ...others]) {
    const [done] = results(id)
    expect([id, ...outcomes([done!]), done!.box.scored]).toEqual([id, 'accepted', true])
  }
})
