import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { calmingStart, FAULT_AT, faultyFlow } from '../../../test/support/faultyFlow.ts'
import { openInProcessBox } from '../../../test/support/inProcessBox.ts'
import { seededRandomness } from '../../../test/support/seededRandomness.ts'
import { testSigner } from '../../../test/support/testSigner.ts'
import { WASM, workProgram } from '../../../test/support/workProgram.ts'
import { watchWork } from '../../apps/work/watchWork.ts'
import { patchRunner } from '../../core/work/runPatch.ts'
import { hasherOn } from '../../core/work/workEngine.ts'
import { EXACT_OPS } from '../../core/work/workOps.ts'
import { openExactEngine } from '../../drivers/gpu/cpu/work/openCpuWork.ts'
import { systemClock } from '../../drivers/system/systemClock.ts'
import { replaying, writeInputs } from './inputFiles.ts'

test('a receipt of a work that has no result is refused by a replay, and no input is blamed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'touchstone-replay-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const hasher = hasherOn(await openExactEngine(WASM))
  const flow = faultyFlow(hasher)
  const never = new AbortController().signal
  const box = openInProcessBox(workProgram(undefined, testSigner(8), calmingStart(FAULT_AT + 1)))
  const how = { clock: systemClock, randomness: seededRandomness(25), every: 0, segmentMs: 60_000 }
  const runPatch = patchRunner(await openExactEngine(WASM), EXACT_OPS)
  const ours = { ...flow, ...how, hasher, runPatch, onStep: () => {}, onState: () => {} }
  const receipt = await watchWork({ ...ours, prover: await box.start(never) }, never)
  await box.close()
  writeInputs(folder, flow.given)
  const replayed = await replaying(folder, () => {}).replay!({ work: flow.work, receipt } as never)
  expect(replayed).toMatchObject({ problem: { code: 'REPLAY_DIFFERS' } })
})
