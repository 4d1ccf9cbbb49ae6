import { expect, test } from 'vitest'
import { ownMachine } from '../../../../test/support/inProcessBox.ts'
import { ReferenceDevice } from '../../../../test/support/openReferenceDevice.ts'
import { CARD, engine, mainnetAsk, outcomes, play } from '../../../../test/support/playFleet.ts'
import type { VirtualClock } from '../../../../test/support/virtualClock.ts'

/** As an RTX 2080 Ti, which keeps the fingerprints of 3 s of rounds, and makes a hundred of the sustained ones again. */
const [KEEPS, OPENING_MS] = [50, 10_000]
const asked = mainnetAsk(2)

function boxOf(cards: number, clock: VirtualClock) {
  class Forgetful extends ReferenceDevice {
    override async openSeries(...given: Parameters<ReferenceDevice['openSeries']>): Promise<Uint8Array> {
      if (this.series.length > KEEPS) await clock.sleep(OPENING_MS)
      return await super.openSeries(...given)
    }
  }
  const options = { engine, facts: CARD, costs: { round: () => clock.sleep(300), pass: () => clock.sleep(10) } }
  return ownMachine({ devices: Array.from({ length: cards }, () => new Forgetful(options)) })
}

test('attack 514: a box of eight cards that make rounds again to open them is paid beside a box of one', async () => {
  const program = (boxId: string, clock: VirtualClock) => boxOf(boxId === 'many' ? 8 : 1, clock)
  const { results } = await play(['many', 'one'], program, { hours: 1, precisions: ['int8'], asked })
  expect(['many', 'one'].map((id) => [...outcomes(results(id)), results(id)[0]!.box.scored])).toEqual([
    ['accepted', true],
    ['accepted', true],
  ])
})
