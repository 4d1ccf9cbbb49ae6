import { expect, test } from 'vitest'
import { ownMachine } from '../../../../test/support/inProcessBox.ts'
import { ReferenceDevice } from '../../../../test/support/openReferenceDevice.ts'
import { CARD, engine, KEPT_BYTES, mainnetAsk, outcomes, play } from '../../../../test/support/playFleet.ts'
import type { VirtualClock } from '../../../../test/support/virtualClock.ts'
import type { FillTask, OnRoot } from '../../../ports/device.ts'

/** Rounds of a fill in the memory of a card, and how long it reads each. */
interface Memory {
  readonly rounds: number
  readonly readMs: number
}

const LARGE_AND_QUICK: Memory = { rounds: 64, readMs: 0.5 }
const SMALL_AND_SLOW: Memory = { rounds: 12, readMs: 3 }

class CardOf extends ReferenceDevice {
  #kept = 0

  constructor(clock: VirtualClock, { rounds, readMs }: Memory) {
    const memoryBytes = Math.ceil((rounds * KEPT_BYTES) / 0.96) + 1
    const costs = {
      round: () => clock.sleep(60),
      fillRound: () => clock.sleep(20),
      pass: () => clock.sleep(readMs * this.#kept),
    }
    super({ engine, facts: { ...CARD, memoryBytes, freeBytes: 16e9, precisions: ['int8'] }, costs })
  }

  override async fill(task: FillTask, onRoot: OnRoot, signal: AbortSignal): Promise<void> {
    this.#kept = task.kept
    await super.fill(task, onRoot, signal)
  }
}

test('attack 503: an honest box whose smaller card reads more slowly is asked once, and paid', async () => {
  const asked = { ...mainnetAsk(LARGE_AND_QUICK.rounds), sustainedSeconds: 0 }
  const { results } = await play(
    ['mixed', 'other'],
    (boxId, clock) => {
      const memories = boxId === 'mixed' ? [LARGE_AND_QUICK, SMALL_AND_SLOW] : [LARGE_AND_QUICK]
      return ownMachine({ devices: memories.map((memory) => new CardOf(clock, memory)) })
    },
    { hours: 1, precisions: ['int8'], asked },
  )
  for (const id of ['mixed', 'other']) expect(outcomes(results(id))).toEqual(['accepted'])
})
