import { expect, test } from 'vitest'
import { tinyTraining } from '../../../../../test/support/tinyTraining.ts'
import { PLAIN_HASHER } from '../../../../core/work/engineRun.ts'
import { chooseKernels } from '../../../system/chooseKernels.ts'
import { openCpuWork } from './openCpuWork.ts'

const engines = ['wasm', 'avx2', 'avx512']

test('two works at the same time on one device come to what each comes to alone', async () => {
  const { work, given } = tinyTraining('gpt', 3, PLAIN_HASHER)
  const device = await openCpuWork()
  const alone = await device.start(work, given)
  const marks = [await alone.advance(-1), await alone.advance(0), await alone.advance(1)]
  const [one, other] = [await device.start(work, given), await device.start(work, given)]
  for (const [i, mark] of marks.entries())
    expect([await one.advance(i - 1), await other.advance(i - 1)]).toEqual([mark, mark])
})

test('every build of the kernels trains to the same bits', async () => {
  const { work, given } = tinyTraining('llama', 4, PLAIN_HASHER)
  const states = new Map<string, unknown>()
  for (const engine of engines) {
    const environment = { TOUCHSTONE_ENGINE: engine }
    if (engine !== 'wasm' && (await chooseKernels({ environment })) === null) continue
    const run = await (await openCpuWork({ environment })).start(work, given)
    const marks = [await run.advance(-1)]
    for (const segment of work.ends.keys()) marks.push(await run.advance(segment))
    states.set(engine, { marks, weights: await run.read('head.weight') })
  }
  for (const state of states.values()) expect(state).toEqual(states.get('wasm'))
})
