import { expect, test } from 'vitest'
import { honestProgram, tampered } from '../../../../test/support/inProcessBox.ts'
import { ReferenceDevice } from '../../../../test/support/openReferenceDevice.ts'
import { CARD, Card, cardOn, engine, play } from '../../../../test/support/playFleet.ts'
import type { VirtualClock } from '../../../../test/support/virtualClock.ts'
import { fault } from '../../../drivers/gpu/cuda/faults.ts'
import type { OnRoot, SeriesTask } from '../../../ports/device.ts'

const honest = (clock: VirtualClock) => honestProgram({ devices: [cardOn(new Card(clock))] })
const isFirstHour = (clock: VirtualClock) => clock.wallTime().getTime() < Date.UTC(2026, 0, 1, 1)

test('attack 373: who dawdles over the greeting after a lost device does so in its own time', async () => {
  class FailsInSecondPart extends ReferenceDevice {
    #begun = 0
    override async runSeries(task: SeriesTask, onRoot: OnRoot, signal: AbortSignal): Promise<void> {
      if (++this.#begun === 2) throw fault('GPU_LOST', { what: 'gone', mend: 'Believe it.' })
      await super.runSeries(task, onRoot, signal)
    }
  }
  const dawdles = (clock: VirtualClock) => {
    let hellos = 0
    const devices = [cardOn(new Card(clock)), new FailsInSecondPart({ engine, facts: CARD })]
    return tampered(honestProgram({ devices }), {
      async onOrder(order, line) {
        if (order.type === 'hello') hellos++
        if (hellos > 1 && (order.type === 'hello' || order.type === 'ping')) await clock.sleep(59_000)
        await line.order(order)
      },
    })
  }
  const programOf = (_: string, clock: VirtualClock) => (isFirstHour(clock) ? honest(clock) : dawdles(clock))
  const rules = { hours: 2, cohortSize: 1, fixedRounds: 1, jobLimitMs: 100_000, retries: { limit: 0, intervalMs: 0 } }
  const { store, results } = await play(['x'], programOf, {
    ...rules,
    precisions: ['int8', 'fp16'],
    asked: { sustainedSeconds: 0 },
  })
  expect(results('x').map(({ result, box }) => [result.outcome, result.code, box.failed])).toEqual([
    ['accepted', null, false],
    ['unreachable', 'JOB_TIMEOUT', true],
  ])
  expect(store.boxes.get('x')).toMatchObject({ status: 'failed', score: 0 })
})
