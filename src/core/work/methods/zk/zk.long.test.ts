import { expect, test } from 'vitest'
import { PRIVATE_CHEATS, privateCheatsThatPass } from '../../../../../test/support/privateCheats.ts'

test.each(Object.entries(PRIVATE_CHEATS))('a proof about hidden matrices: finds %s, 10,000 times', (_, cheat) => {
  expect(privateCheatsThatPass(cheat, 10_000)).toBe(0)
})
