import type { Precision } from '../../core/params/precision.ts'
import type { PlannedPart } from '../../core/proof/partKinds.ts'
import type { PlanInputs, Timings } from '../../core/proof/planPart.ts'
import { chooseSize, planRun, planSizing, planTiming } from '../../core/proof/planRun.ts'
import { explainReason, type RejectReason } from '../../core/proof/reasons.ts'
import { timingsOf } from '../../core/proof/timingsOf.ts'
import type { TouchstoneError } from '../../ports/errors.ts'
import { fault } from '../shared/faults.ts'
import type { ProverFault } from './rejection.ts'
import { type ChallengeInputs, runChallenge } from './runChallenge.ts'
import { verifyAll } from './verifyAll.ts'
import type { VerifyDeps } from './verifyBox.ts'
import { proverFault } from './verifyFaults.ts'

type Line = Omit<ChallengeInputs, 'plan' | 'onProgress' | 'beforeStart'>
type Conducted = Awaited<ReturnType<typeof runChallenge>>

/** What is asked next, or the calibration that was caught: rejected, and nothing of it kept but its challenge. */
export type Calibrated = { readonly plan: readonly PlannedPart[] } | { readonly caught: Conducted }

/**
 * §4.0. Two short runs with challenges of their own decide the sizes, T and P; their results are discarded. A prover
 * that is slow on purpose here only gets asked for less, and is then judged by what it was asked. One that did not
 * compute what it sent is caught by their openings before the run begins (attack 72).
 */
export async function calibrate(
  line: Line,
  inputs: PlanInputs,
  { checker }: Pick<VerifyDeps, 'checker'>,
  signal: AbortSignal,
): Promise<Calibrated> {
  if (inputs.preset.name === 'tiny') return { plan: planRun(inputs, () => inputs.preset.size, new Map()) }
  const asked = async (plan: readonly PlannedPart[]): Promise<Conducted> => {
    const conducted = await runChallenge({ ...line, plan }, signal)
    const forged = await verifyAll(conducted, { checker }, signal)
    if (forged) return { ...conducted, parts: [], rejected: { ...forged, got: 'a calibration that was not computed' } }
    if (conducted.rejected) throw unfinished(conducted.rejected, conducted.gaveUp)
    return conducted
  }
  const sizing = planSizing(inputs)
  const sized = sizing.length > 0 ? await asked(sizing) : null
  if (sized?.rejected) return { caught: sized }
  const timings = ({ challenge, parts }: Conducted) => timingsOf(challenge, parts, inputs.roundTripSeconds)
  const sizes: Timings = sized ? timings(sized) : new Map()
  const size = (precision: Precision) => chooseSize(inputs, precision, sizing, sizes)
  const timed = await asked(planTiming(inputs, size))
  return timed.rejected ? { caught: timed } : { plan: planRun(inputs, size, timings(timed)) }
}

function unfinished(reason: RejectReason, gaveUp: ProverFault | null): TouchstoneError {
  if (gaveUp) return proverFault(gaveUp)
  return fault('CALIBRATION_FAILED', { reason: reason.code, why: explainReason(reason) })
}
