import { toHex } from '../../../core/bytes/hex.ts'
import { DecodeError } from '../../../core/bytes/reader.ts'
import type { JobKind, Outcome } from '../../../core/schedule/boxState.ts'
import { namedFigures } from '../../../core/schedule/namedFigures.ts'
import { TouchstoneError } from '../../../ports/errors.ts'
import { meansBusy } from '../../../ports/faults.ts'
import type { NewResult } from '../../../ports/store.ts'
import { fault } from '../../shared/faults.ts'
import type { BoxReport } from '../verifyBox.ts'

type Told = Omit<NewResult, 'marks'>

/** What a run leaves behind; without a report where it ended in a fault. */
export interface Leftover {
  readonly told: Told
  readonly report: BoxReport | null
  /** The box kept us waiting for nothing, whatever it says (attack 107). */
  readonly stalled: boolean
}

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
    claimVerdict: outcome === 'rejected' ? null : (judgement.claim?.verdict ?? null),
    judgement,
    inventory,
    figures: outcome === 'accepted' ? namedFigures(judgement) : [],
    certificate,
  }
}

/** A run that ended in a fault. Only codes are kept: the words of a fault may be the box's. */
export function resultOfFault(
  { outcome, code }: Pick<JudgedFault, 'outcome' | 'code'>,
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

/** The kind of an error, never its words. */
export function kindOfError(error: unknown): string {
  if (error instanceof TouchstoneError) return error.detail.code
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown }
  return String(code ?? name ?? 'unknown')
}

/** Whether the fault may be that of our own release. */
export const isOfRelease = (error: unknown): boolean => error instanceof TouchstoneError && error.fleet === 'release'

/** Whoever rents a box may fill its cards: a look that finds no room has found them at work (attack 432). */
const isTaken = (code: string): boolean => code === 'OUT_OF_MEMORY' || meansBusy(code)

/** A prover that gave up because somebody else holds its cards. */
export const refusedAsBusy = ({ code, detail }: Pick<Told, 'code' | 'detail'>): boolean =>
  code === 'REFUSED' && isTaken(String(detail?.got))

export interface JudgedFault {
  readonly outcome: Outcome
  readonly code: string
  /** The box kept us waiting for nothing. */
  readonly stalled: boolean
}

/** `releaseRuns`: whether a box has started our prover in this round. A light look has no window to miss. */
export function judgeFault(error: unknown, releaseRuns = true, kind: JobKind = 'full'): JudgedFault {
  // Only what others send is decoded: bytes that nobody caught on the way are still theirs (attack 63).
  if (error instanceof DecodeError) return { outcome: 'unreachable', code: 'UNREADABLE', stalled: false }
  if (!(error instanceof TouchstoneError)) return { outcome: 'fault', code: 'UNEXPECTED', stalled: false }
  const { detail, blame, fleet } = error
  const said = fault.is(error, 'PROVER_FAULT') ? String(detail.prover) : detail.code
  if (kind === 'light' ? isTaken(said) : meansBusy(said)) return { outcome: 'busy', code: said, stalled: false }
  const stalled = fleet === 'stalled' || fleet === 'void'
  const told = (outcome: Outcome): JudgedFault => ({ outcome, code: detail.code, stalled })
  if (fleet === 'void' && kind === 'full') return told('void')
  const isOurs = blame === 'validator' || fleet === 'ours' || (fleet === 'release' && !releaseRuns)
  return told(isOurs ? 'fault' : 'unreachable')
}
