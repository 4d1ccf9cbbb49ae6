import { expect, test } from 'vitest'
import { shippedCatalogue } from '../../../../test/sim/shippedCatalogue.ts'
import { testRules } from '../../../../test/support/fleetKit.ts'
import { honestProgram } from '../../../../test/support/inProcessBox.ts'
import { ReferenceDevice } from '../../../../test/support/openReferenceDevice.ts'
import { verifyInProcess } from '../../../../test/support/verifyInProcess.ts'
import { FULL_SCORE } from '../../../core/score/scoreConfig.ts'
import { fault } from '../../../drivers/gpu/cuda/faults.ts'
import type { OnRoot, SeriesTask } from '../../../ports/device.ts'
import type { TakenJob } from '../../../ports/store.ts'
import { finishOf } from './finishOf.ts'
import { resultOfReport } from './outcomeOf.ts'

/** Says that it is lost as soon as it has seen how the run goes; what it is made of nobody knows. */
class Phantom extends ReferenceDevice {
  override async runSeries(_: SeriesTask, __: OnRoot): Promise<void> {
    throw fault('GPU_LOST', { what: 'gone', mend: 'Believe it.' })
  }
}

test('attack 64: every device that was lost in a run stands in the history of its box, and a light look asks for more', async () => {
  const devices = [new ReferenceDevice(), new Phantom(), new Phantom()]
  const report = await verifyInProcess({ program: honestProgram({ devices }), catalogue: await shippedCatalogue() })
  expect(report.judgement.reason).toBeNull()
  const box = {
    allocated: false,
    inventory: null,
    status: 'new',
    score: 0,
    failuresInRow: 0,
    busyInRow: 0,
    owes: [],
    missed: 0,
    stalls: 0,
  }
  const job = { id: 1, boxId: 'a', round: 1, kind: 'light', tries: 0, box } as unknown as TakenJob
  const told = resultOfReport(report)
  const store = { boxesWithCards: async () => [] }
  const { result, followUps } = await finishOf(job, told, report, {
    store,
    rules: await testRules(),
    cohort: { mates: [], together: [] },
  })
  expect(result.marks).toEqual([
    { what: 'lost device', before: 'GPU_LOST', after: '1 left' },
    { what: 'lost device', before: 'GPU_LOST', after: '1 left' },
  ])
  expect(followUps).toMatchObject([{ kind: 'full', reason: 'changed' }])
})

test('attack 73: a box with no GPU that says everything of its host scores next to nothing', async () => {
  const host = {
    cpuWhetstoneMips: 1e9,
    memoryLimitBytes: 1e15,
    ramBytesPerSec: 1e15,
    diskFreeBytes: 1e16,
    diskWriteBytesPerSec: 1e15,
    registered: true,
    allocated: true,
  }
  const devices = [new ReferenceDevice({ facts: { class: 'gpu', backEnd: 'cuda', name: 'NVIDIA H200' } })]
  const program = honestProgram({ devices, inventory: { host } })
  const report = await verifyInProcess({ program, catalogue: await shippedCatalogue() })
  const box = {
    allocated: true,
    inventory: null,
    status: 'new',
    score: 0,
    failuresInRow: 0,
    busyInRow: 0,
    owes: [],
    missed: 0,
    stalls: 0,
  }
  const job = { id: 1, boxId: 'a', round: 1, kind: 'full', tries: 0, box } as unknown as TakenJob
  const store = { boxesWithCards: async () => [] }
  const finish = await finishOf(job, resultOfReport(report), report, {
    store,
    rules: await testRules(),
    cohort: { mates: [], together: [] },
  })
  expect(finish.box).toMatchObject({ status: 'verified', scored: true })
  expect(finish.box.score).toBeLessThan(FULL_SCORE / 100)
})
