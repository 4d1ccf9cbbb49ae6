import { BYTE_CHEATS } from './byteCheats.ts'
import type { BoxCheat } from './cheat.ts'
import { CLAIM_CHEATS } from './claimCheats.ts'
import { LINE_CHEATS } from './lineCheats.ts'
import { LOST_CHEATS } from './lostCheats.ts'
import { WORK_CHEATS } from './workCheats.ts'

/** Every cheat that a box can try, with the verdict it must get. */
export const BOX_CHEATS: readonly BoxCheat[] = [
  ...WORK_CHEATS,
  ...LINE_CHEATS,
  ...LOST_CHEATS,
  ...BYTE_CHEATS,
  ...CLAIM_CHEATS,
]
