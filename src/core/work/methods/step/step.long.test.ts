import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { smallDecoder, smallStep } from '../../../../../test/support/smallStep.ts'
import { u32le } from '../../../bytes/bytes.ts'
import { sha256 } from '../../../bytes/sha256.ts'
import { engineOnOwned, stepEngineOnOwned } from '../../workEngine.ts'
import { createWorkKernels } from '../../workKernels.ts'
import { checkTransition } from './checkStep.ts'

const wasm = readFileSync(new URL('../../../../../kernels/built/work.wasm', import.meta.url))
const open = {
  exact: async () => engineOnOwned(await createWorkKernels(wasm)),
  step: async () => stepEngineOnOwned(await createWorkKernels(wasm)),
}

/** Two of the four sequences are drawn, without repeats. */
const passing = (wrong: number) => ((4 - wrong) * (3 - wrong)) / (4 * 3)

test.each([1, 2])('%i of 4 sequences with a wrong step pass as often as they should', async (wrong) => {
  const small = await smallStep(smallDecoder('gpt'), open)
  const each = small.plan.one.shapes.get('gelu#1')!
  const tampered = (bytes: Uint8Array) => {
    const floats = new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4)
    for (let sequence = 0; sequence < wrong; sequence++) floats[sequence * each.rows * each.width]! += 1
  }
  const committed = small.commit(new Map([['gelu#1', tampered]]))
  const tries = 300
  let passed = 0
  for (let i = 0; i < tries; i++) {
    const nonce = sha256(u32le(i))
    const { checker, work, plan } = small
    const problem = checkTransition(checker, work, plan, committed, committed.said, nonce, committed.prove(nonce))
    if (problem) expect(problem).toMatchObject({ code: 'STEP_WRONG' })
    else passed++
  }
  const expected = passing(wrong)
  const sigma = Math.sqrt((expected * (1 - expected)) / tries)
  expect(Math.abs(passed / tries - expected)).toBeLessThan(4 * sigma)
  expect(expected).toBeLessThanOrEqual((1 - wrong / 4) ** 2)
})
