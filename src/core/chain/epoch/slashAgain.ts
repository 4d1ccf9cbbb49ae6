import { slash } from '../ledger.ts'
import { DAY } from '../params.ts'
import { StateType, valuesOf } from '../stateType.ts'
import { firstPart, SLASHED } from '../transactions/evidence.ts'
import type { EpochWork } from './endEpoch.ts'

/** The second part of the slashes of a day ago: up to three times the share of weight that was proven guilty in one epoch. */
export function slashAgain(work: EpochWork): void {
  const { state } = work
  const slashes = valuesOf(state.slashes)
  if (slashes.length === 0) return
  const due = slashes.filter(({ epoch }) => epoch + DAY <= state.epoch)
  for (const { account, reporter, base, total, epoch } of due) {
    const guilty = due.filter((other) => other.epoch === epoch).reduce((sum, { weight }) => sum + weight, 0n)
    const share = total === 0n ? 0n : (3n * guilty * base) / total
    const more = (share < base ? share : base) - firstPart(base)
    if (more > 0n) slash(work, account, SLASHED, more, reporter)
  }
  if (due.length > 0) state.slashes = StateType.fields.slashes.toViewDU(slashes.slice(due.length))
}
