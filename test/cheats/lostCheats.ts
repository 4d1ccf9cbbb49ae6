import { PRESETS } from '../../src/core/params/presets.ts'
import { fault } from '../../src/drivers/gpu/cuda/faults.ts'
import type { LeafPosition, OnRoot, SeriesTask } from '../../src/ports/device.ts'
import { honestProgram, type ProverProgram, tampered } from '../support/inProcessBox.ts'
import type { Work } from '../support/openReferenceDevice.ts'
import { type BoxCheat, CheatingDevice, honestDevices, randomBytes } from './cheat.ts'

const saysLost = () => fault('GPU_LOST', { what: 'card 1: the card stopped working', mend: 'Believe it.' })

/** Commits to junk in its first series and is honest ever after. */
class FakesOnce extends CheatingDevice {
  protected override leaves(work: Work, tiles: readonly Uint32Array[]): Uint8Array[] {
    return this.seriesBegun === 1 ? tiles.map(() => randomBytes(this.chance)) : super.leaves(work, tiles)
  }
}

/** Is said to be lost in its second series, when the nonce of the first is out. */
class LostInTheSecondPart extends CheatingDevice {
  override async runSeries(task: SeriesTask, onRoot: OnRoot, signal: AbortSignal): Promise<void> {
    if (this.seriesBegun === 1) throw saysLost()
    await super.runSeries(task, onRoot, signal)
  }
}

class LostWhenAskedToOpen extends CheatingDevice {
  override async openSeries(_: readonly LeafPosition[]): Promise<Uint8Array> {
    throw saysLost()
  }
}

/** Slow while it is calibrated, so that the run itself is over too soon. */
class SlowAtFirst extends CheatingDevice {
  protected override leaves(work: Work, tiles: readonly Uint32Array[]): Uint8Array[] {
    if (this.seriesBegun < 3) this.kit.clock.spend(500_000)
    return super.leaves(work, tiles)
  }
}

/** Says that somebody else has the box when asked for the n-th time. */
function leasedAt(asked: number, program: ProverProgram): ProverProgram {
  let challenges = 0
  return tampered(program, {
    onOrder: async (order, line) => {
      const taken = order.type === 'challenge' && ++challenges === asked
      if (taken) await line.answer({ type: 'fault', code: 'LEASED', text: 'somebody else has the box' })
      else await line.order(order)
    },
  })
}

export const LOST_CHEATS: readonly BoxCheat[] = [
  {
    attack: 57,
    name: 'a card sacrificed in the next part',
    how: 'the first card fakes a part; when its nonce is out the second says it is lost, to have all of it forgotten',
    expected: 'OPENING_DOES_NOT_REACH_ROOT',
    options: { precisions: ['int8', 'bf16'] },
    program: (kit) =>
      honestProgram({
        devices: [new FakesOnce({ engine: kit.engine }, kit), new LostInTheSecondPart({ engine: kit.engine }, kit)],
      }),
  },
  {
    attack: 57,
    name: 'a card sacrificed when the nonce is out',
    how: 'the first card fakes a part; the second says it is lost instead of opening',
    expected: 'REFUSED',
    program: (kit) =>
      honestProgram({
        devices: [new FakesOnce({ engine: kit.engine }, kit), new LostWhenAskedToOpen({ engine: kit.engine }, kit)],
      }),
  },
  {
    attack: 61,
    name: 'busy after a lost card',
    how: 'sees its rates, says that a card is lost, and when greeted again that the box is leased, to keep an old score',
    expected: 'REFUSED',
    options: { precisions: ['int8', 'bf16'] },
    program: (kit) =>
      leasedAt(
        2,
        honestProgram({ devices: [...honestDevices(kit), new LostInTheSecondPart({ engine: kit.engine }, kit)] }),
      ),
  },
  {
    attack: 61,
    name: 'busy after a run too short',
    how: 'is slow in the calibration, sees its rates in a run that is too short, and says that the box is leased when asked again',
    expected: 'TOO_SHORT',
    options: { preset: PRESETS.devnet, openings: 32, partSeconds: 3, maxSize: 64 },
    program: (kit) => leasedAt(4, honestProgram({ devices: [new SlowAtFirst({ engine: kit.engine }, kit)] })),
  },
]
