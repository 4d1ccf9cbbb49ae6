import { expect, test } from 'vitest'
import { COMMITTED_CHEATS, committedCheatsThatPass } from '../../../../../test/support/committedCheats.ts'
import { openWasmField } from '../../../../../test/support/sumcheckCheats.ts'

test.each(Object.entries(COMMITTED_CHEATS))('operands under a code: %s is found, 10,000 times', async (_, cheat) => {
  expect(committedCheatsThatPass(await openWasmField(), cheat, 10_000)).toBe(0)
})
