import { expect, test } from 'vitest'
import { openWasmStep, STEP_CHEATS, stepCheatsThatPass } from '../../../../../test/support/stepMatrices.ts'

test.each(Object.entries(STEP_CHEATS))('a matrix of a step: %s is found, 10,000 times', async (_, cheat) => {
  expect(stepCheatsThatPass(await openWasmStep(), await openWasmStep(), cheat, 10_000)).toBe(0)
})
