import { expect, test } from 'vitest'
import { ownMachine } from '../../../../test/support/inProcessBox.ts'
import { ReferenceDevice } from '../../../../test/support/openReferenceDevice.ts'
import { CARD, engine, outcomes, play } from '../../../../test/support/playFleet.ts'
import { PRESETS } from '../../../core/params/presets.ts'
import { cudaFault } from '../../../drivers/gpu/cuda/cudaFault.ts'
import type { OnRoot, PassTask } from '../../../ports/device.ts'

/** As most cards for games: the driver lets none read the memory of another. */
class Apart extends ReferenceDevice {
  override async runPasses(task: PassTask, onRoot: OnRoot, signal: AbortSignal): Promise<void> {
    const statusName = 'CUDA_ERROR_PEER_ACCESS_UNSUPPORTED'
    if (task.peer) throw cudaFault({ call: 'cuCtxEnablePeerAccess', status: 217, statusName, card: 'card 0' })
    await super.runPasses(task, onRoot, signal)
  }
}

test.each([2, 4, 8])(
  'attack 494: an honest box of %i cards that cannot reach one another is accepted',
  async (count) => {
    const { results } = await play(
      ['cards', 'other'],
      (boxId, clock) => {
        const round = () => clock.sleep(100)
        const facts = { ...CARD, details: { peers: false } }
        const one = () => new Apart({ engine, facts, costs: { round, fillRound: round, pass: round } })
        return ownMachine({ devices: Array.from({ length: boxId === 'cards' ? count : 1 }, one) })
      },
      { hours: 1, asked: { memory: true, bind: true, preset: { ...PRESETS.tiny, fixedRounds: 8, fixedPasses: 8 } } },
    )
    for (const id of ['cards', 'other']) expect(outcomes(results(id))).toEqual(['accepted'])
  },
)
