import type { Precision } from '../../core/params/precision.ts'
import {
  chooseSize,
  type PlanInputs,
  type PlannedPart,
  planRun,
  planSizing,
  planTiming,
} from '../../core/proof/planRun.ts'
import { explainReason } from '../../core/proof/reasons.ts'
import { timingsOf } from '../../core/proof/timings.ts'
import { TouchstoneError } from '../../ports/errors.ts'
import { type ChallengeInputs, runChallenge } from './runChallenge.ts'
import { proverFault } from './verifyFaults.ts'

type Line = Omit<ChallengeInputs, 'plan' | 'onProgress'>

/**
 * §4.0. Two short runs with challenges of their own decide the sizes, T and P; their results are discarded. A prover
 * that is slow on purpose here only gets asked for less, and is then judged by what it was asked.
 */
export async function calibrate(line: Line, inputs: PlanInputs, signal: AbortSignal): Promise<PlannedPart[]> {
  if (inputs.preset.name === 'tiny') return planRun(inputs, () => inputs.preset.size, new Map())
  const sizing = planSizing(inputs)
  const sizes = sizing.length > 0 ? await timingsBy(line, sizing, inputs.roundTripSeconds, signal) : new Map()
  const size = (precision: Precision) => chooseSize(inputs, precision, sizing, sizes)
  const timing = planTiming(inputs, size)
  return planRun(inputs, size, await timingsBy(line, timing, inputs.roundTripSeconds, signal))
}

async function timingsBy(line: Line, plan: readonly PlannedPart[], roundTripSeconds: number, signal: AbortSignal) {
  const { challenge, parts, rejected, gaveUp } = await runChallenge({ ...line, plan }, signal)
  if (!rejected) return timingsOf(challenge, parts, roundTripSeconds)
  if (gaveUp) throw proverFault(gaveUp)
  throw new TouchstoneError(
    { code: 'CALIBRATION_FAILED', reason: rejected.code },
    {
      message: `the calibration run did not finish: ${explainReason(rejected)}`,
      blame: 'prover',
      retry: true,
      nextStep: 'Free the box from other work and run again.',
    },
  )
}
