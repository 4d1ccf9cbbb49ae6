import { expect, test } from 'vitest'
import { PRIVATE_CHEATS, privateCheatsThatPass } from '../../../../../test/support/privateCheats.ts'

/** A proof anew takes some 25 ms, on a core that has nothing else to do. */
const HOUR = 3_600_000

test.each(Object.entries(PRIVATE_CHEATS))(
  'a proof about hidden matrices: finds %s, 10,000 times',
  (_, cheat) => {
    expect(privateCheatsThatPass(cheat, 10_000)).toBe(0)
  },
  HOUR,
)
