import { toHex } from '../../../core/bytes/hex.ts'
import { DecodeError } from '../../../core/bytes/reader.ts'
import type { JobKind, Outcome } from '../../../core/schedule/boxState.ts'
import { namedFigures } from '../../../core/schedule/namedFigures.ts'
import { TouchstoneError } from '../../../ports/errors.ts'
import type { NewResult } from '../../../ports/store.ts'
import type { BoxReport } from '../verifyBox.ts'

/**
 * What a fault means for its box, where it is not a failure of the box: every code that is not here is one, or a box
 * would hide behind it. `busy` holds for the word of a prover too; `ours` never does, and neither does `release`.
 */
export const FAULTS: Readonly<Record<string, 'busy' | 'void' | 'ours' | 'release'>> = {
  // Somebody else holds the cards: what the lease service, the CUDA driver and our device threads say.
  BOX_BUSY: 'busy',
  GPU_BUSY: 'busy',
  DEVICE_BUSY: 'busy',
  // It was not ready when its cohort started.
  WINDOW_MISSED: 'void',
  // Only the set-up of this validator can cause these.
  SSH_KEY_UNREADABLE: 'ours',
  HOST_KEY_UNKNOWN: 'ours',
  KERNEL_FILE_MISSING: 'ours',
  BAD_RELEASE: 'ours',
  // A broken release of ours, or a box that breaks it: ours until another box has shown that it runs.
  PROVER_DID_NOT_START: 'release',
  PROVER_HASH_MISMATCH: 'release',
}

type Told = Omit<NewResult, 'marks'>

/**
 * A finished run as a result: everything in it was decoded and judged by us. `inWindow`: whether it ran together with its
 * cohort; what did not is neither accepted nor refused.
 */
export function resultOfReport(report: BoxReport, inWindow = true): Told {
  const { judgement, preset, runId, proverKey, startedAt, seconds, inventory, certificate } = report
  const { reason } = judgement
  const outcome = judgement.outcome === 'accepted' && !inWindow ? 'void' : judgement.outcome
  return {
    outcome,
    code: outcome === 'void' ? 'WINDOW_MISSED' : (reason?.code ?? null),
    detail: reason === null ? null : { ...reason },
    preset,
    runId: toHex(runId),
    proverKey: toHex(proverKey),
    startedAt,
    seconds,
    claimVerdict: judgement.claim?.verdict ?? null,
    judgement,
    inventory,
    figures: outcome === 'accepted' ? namedFigures(judgement) : [],
    certificate,
  }
}

/** A run that ended in a fault. Only codes are kept: the words of a fault may be the box's. */
export function resultOfFault(
  { outcome, code }: ReturnType<typeof judgeFault>,
  startedAt: string,
  seconds: number,
): Told {
  return {
    outcome,
    code,
    detail: null,
    preset: null,
    runId: null,
    proverKey: null,
    startedAt,
    seconds,
    claimVerdict: null,
    judgement: null,
    inventory: null,
    figures: [],
    certificate: null,
  }
}

/** Whether the fault may be that of our own release. */
export const isOfRelease = (error: unknown): boolean =>
  error instanceof TouchstoneError && FAULTS[error.detail.code] === 'release'

/** `releaseRuns`: whether a box has started our prover in this round. A light look has no window to miss. */
export function judgeFault(
  error: unknown,
  releaseRuns = true,
  kind: JobKind = 'full',
): { readonly outcome: Outcome; readonly code: string } {
  // Only what others send is decoded: bytes that nobody caught on the way are still theirs (attack 63).
  if (error instanceof DecodeError) return { outcome: 'unreachable', code: 'UNREADABLE' }
  if (!(error instanceof TouchstoneError)) return { outcome: 'fault', code: 'UNEXPECTED' }
  const said = error.detail.code === 'PROVER_FAULT' ? String(error.detail.prover) : null
  const code = said !== null && FAULTS[said] === 'busy' ? said : error.detail.code
  const means = Object.hasOwn(FAULTS, code) ? FAULTS[code] : null
  if (means === 'busy' || (means === 'void' && kind === 'full')) return { outcome: means, code }
  const isOurs = means === 'ours' && error.blame !== 'prover'
  if (error.blame === 'validator' || isOurs || (means === 'release' && !releaseRuns)) return { outcome: 'fault', code }
  return { outcome: 'unreachable', code }
}
