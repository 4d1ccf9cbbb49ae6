import { expect, test } from 'vitest'
import { STEP_CHEATS, stepCheatsAmiss } from '../../../../../test/support/stepCheats.ts'
import { openWasmStep } from '../../../../../test/support/stepWorks.ts'

test.each(Object.entries(STEP_CHEATS))('products of a transition: %s is found, 10,000 times', async (_, cheat) => {
  expect(stepCheatsAmiss(await openWasmStep(), cheat, 10_000)).toEqual([])
})
