import { toHex } from '../../../core/bytes/hex.ts'
import { DecodeError } from '../../../core/bytes/reader.ts'
import type { Outcome } from '../../../core/schedule/boxState.ts'
import { namedFigures } from '../../../core/schedule/namedFigures.ts'
import { TouchstoneError } from '../../../ports/errors.ts'
import type { NewResult } from '../../../ports/store.ts'
import type { BoxReport } from '../verifyBox.ts'

/** Faults that only this validator's set-up can cause. A box that causes any other has failed, or it would hide behind it. */
const OURS: readonly string[] = ['SSH_KEY_UNREADABLE', 'HOST_KEY_UNKNOWN', 'KERNEL_FILE_MISSING', 'RELEASE_UNREADABLE']

/** What a prover may say before the clock runs when somebody else holds its cards. */
const BUSY: readonly string[] = ['DEVICE_BUSY', 'BOX_BUSY', 'LEASED']

type Told = Omit<NewResult, 'marks'>

/** A finished run as a result: everything in it was decoded and judged by us. */
export function resultOfReport(report: BoxReport): Told {
  const { judgement, preset, runId, proverKey, startedAt, seconds, inventory, certificate } = report
  const { outcome, reason } = judgement
  return {
    outcome,
    code: reason?.code ?? null,
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
export function resultOfFault(error: unknown, startedAt: string, seconds: number): Told {
  const { outcome, code } = judgeFault(error)
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

export function judgeFault(error: unknown): { readonly outcome: Outcome; readonly code: string } {
  // Only what others send is decoded: bytes that nobody caught on the way are still theirs (attack 63).
  if (error instanceof DecodeError) return { outcome: 'unreachable', code: 'UNREADABLE' }
  if (!(error instanceof TouchstoneError)) return { outcome: 'fault', code: 'UNEXPECTED' }
  const { code, prover } = error.detail
  if (code === 'PROVER_FAULT' && BUSY.includes(String(prover))) return { outcome: 'busy', code: String(prover) }
  if (BUSY.includes(code)) return { outcome: 'busy', code }
  const isOurs = OURS.includes(code) && error.blame !== 'prover'
  if (error.blame === 'validator' || isOurs) return { outcome: 'fault', code }
  return { outcome: 'unreachable', code }
}
