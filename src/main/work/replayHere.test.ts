import { expect, test } from 'vitest'
import { FAULT_AT, faultyFlow } from '../../../test/support/faultyFlow.ts'
import { chancePicture, readyWork } from '../../../test/support/smallWorks.ts'
import { tinyTraining } from '../../../test/support/tinyTraining.ts'
import { VirtualClock } from '../../../test/support/virtualClock.ts'
import { WASM } from '../../../test/support/workProgram.ts'
import { chanceFrom } from '../../../test/support/workTrials.ts'
import { EngineRun } from '../../core/work/engineRun.ts'
import { hasherOn } from '../../core/work/workEngine.ts'
import { openExactEngine } from '../../drivers/gpu/cpu/work/openCpuWork.ts'
import { systemClock } from '../../drivers/system/systemClock.ts'
import { replayHere } from './replayHere.ts'

const hasher = hasherOn(await openExactEngine(WASM))
const never = new AbortController().signal
const { work, given } = tinyTraining('gpt', 40, hasher)

/** What whoever does it honestly says of it. */
async function saidOf() {
  const run = new EngineRun(await openExactEngine(), work, given, hasher)
  return { firstRoot: run.advance(-1).root, marks: [...work.ends.keys()].map((segment) => run.advance(segment)) }
}

test('attack 511: while a work is replayed this thread does other things, as telling boxes that somebody is here', async () => {
  const said = await saidOf()
  let signs = 0
  const timer = setInterval(() => signs++, 5)
  const replayed = await replayHere({ work, given, clock: systemClock }, never)(said)
  clearInterval(timer)
  expect(replayed).toEqual({ problem: null, segments: 40 })
  expect(signs).toBeGreaterThan(3)
  const [first, ...marks] = said.marks
  const other = { ...said, marks: [{ ...first!, root: first!.root.map((byte) => byte ^ 1) }, ...marks] }
  const { problem } = (await replayHere({ work, given, clock: systemClock }, never)(other))!
  expect(problem).toEqual({ code: 'REPLAY_DIFFERS', segment: 0 })
})

test('attack 511: whoever waits can end it, and nobody waits for more than minutes', async () => {
  const said = await saidOf()
  const ended = new AbortController()
  const replayed = replayHere({ work, given, clock: systemClock }, ended.signal)(said)
  setTimeout(() => ended.abort(new Error('enough')), 5)
  await expect(replayed).rejects.toThrow('enough')
  expect(await replayHere({ work, given, clock: new VirtualClock() }, never)(said)).toBeNull()
})

test('attack 511: a picture of more paths than a core follows in minutes is not replayed', async () => {
  const { work: small, given: scene } = chancePicture(chanceFrom(2), hasher)
  const { parameters } = small.spec
  const large = { ...(parameters as object), width: 128, height: 2048, samples: 512, bounces: 1 }
  const asked = { kind: 'rendering', parameters: large as typeof parameters, transitions: 256, interval: 1 }
  const { work: picture } = readyWork(asked, scene, hasher)
  const clock = systemClock
  expect(
    await replayHere({ work: picture, given: scene, clock }, never)({ firstRoot: new Uint8Array(32), marks: [] }),
  ).toBeNull()
})

test('attack 520: of a work that is too large to be run again, the first segments are, through the one that is named', async () => {
  const large = faultyFlow(hasher, 10_000_000, 64)
  const replay = replayHere({ ...large, clock: systemClock }, never)
  const at = Math.floor(FAULT_AT / 64)
  expect(await replay({ firstRoot: new Uint8Array(32), marks: [] })).toBeNull()
  expect(await replay(null, at - 1)).toEqual({ problem: null, segments: at })
  for (const named of [at, 150_000])
    await expect(replay(null, named)).rejects.toMatchObject({
      code: 'FAULT',
      message: expect.stringContaining('in segment 1: '),
    })
})
