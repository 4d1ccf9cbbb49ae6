import { describe, expect, test } from 'vitest'
import { keyNamed, txOf } from '../../../../test/support/chainWorld.ts'
import { Drillers } from '../../../../test/support/drillers.ts'
import { etaOf } from '../chainState.ts'
import { CHAIN_PRESETS } from '../params.ts'
import { DisputeMoveType, DrillOpenType } from '../transactions/payloads.ts'
import { shownChunks } from './shownChunks.ts'
import { drawnPatches, type Task } from './task.ts'

describe('attack 196: chunks that are computed for a transaction before it is applied', () => {
  const drillers = new Drillers(['ada', 'bob', 'cyd'], {}, { params: { ...CHAIN_PRESETS.tiny, tasksPerEpoch: 1n } })
  drillers.runToReady()
  while (drillers.tasks().length === 0) drillers.runTo(drillers.state.view.epoch + 1n)
  const { epoch } = drillers.tasks()[0]!
  const openOf = (name: string, { id }: Pick<Task, 'id'>, places: readonly number[]) => {
    const blank = DrillOpenType.fields.openings.elementType.defaultValue()
    const payload = DrillOpenType.serialize({ task: id, openings: places.map((index) => ({ ...blank, index })) })
    return txOf(drillers.state, keyNamed(name), 14, payload)
  }
  const indicesOf = (...asked: Parameters<typeof openOf>) => shownChunks(drillers.state, openOf(...asked))?.indices

  test('are those that the chain drew, in their epoch, for who has a replica: never those that it names', () => {
    const [task] = drillers.tasks()
    expect(indicesOf('ada', task!, [1, 2])).toBeUndefined()
    drillers.runTo(epoch + 5n)
    const due = drillers.tasks().find((each) => each.epoch === epoch)!
    const drawn = drawnPatches(etaOf(drillers.state.view, drillers.state.view.epoch), due)
    for (const places of [[], [0], [9, 9, 9], [1 << 30]]) expect(indicesOf('ada', due, places)).toEqual(drawn)
    expect(indicesOf('judge', due, drawn)).toBeUndefined()
    expect(indicesOf('ada', { id: keyNamed('no task') }, drawn)).toBeUndefined()
    const search = DisputeMoveType.serialize({ ...DisputeMoveType.defaultValue(), task: due.id, move: 3 })
    expect(shownChunks(drillers.state, txOf(drillers.state, keyNamed('ada'), 15, search))).toBeNull()
    expect(shownChunks(drillers.state, txOf(drillers.state, keyNamed('ada'), 14, due.id.subarray(1)))).toBeNull()
    expect(shownChunks(drillers.state, txOf(drillers.state, keyNamed('ada'), 13, due.id))).toBeNull()
  })
})
