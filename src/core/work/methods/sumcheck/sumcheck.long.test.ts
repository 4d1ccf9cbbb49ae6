import { expect, test } from 'vitest'
import { cheatsThatPass, openWasmField, SUMCHECK_CHEATS } from '../../../../../test/support/sumcheckCheats.ts'

test.each(Object.entries(SUMCHECK_CHEATS))('a sumcheck finds %s, 10,000 times', async (_, cheat) => {
  expect(cheatsThatPass(await openWasmField(), cheat, 10_000)).toBe(0)
})
