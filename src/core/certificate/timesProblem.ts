import type { Run } from '../proof/verifyPart.ts'
import { toMillis } from '../units/instants.ts'
import type { CertificateProblem } from './problems.ts'
import type { Statement } from './statement.ts'

const DAY_MS = 24 * 3600 * 1000
/** The longest that installing, calibrating and running can take; twice, where the first run was too short. */
const LONGEST_RUN_MS = 7 * DAY_MS
const LONGEST_VALID_MS = 366 * DAY_MS

/** C3: the run lies between start and issue, and the parts, one after the other, fit in between. */
export function timesProblem(
  { startedAt, issuedAt, notAfter }: Pick<Statement['predicate'], 'startedAt' | 'issuedAt' | 'notAfter'>,
  { parts }: Run,
): CertificateProblem | null {
  if (startedAt === null || notAfter === null) return null
  const [started, issued, ends] = [startedAt, issuedAt, notAfter].map(toMillis) as [number, number, number]
  const shownUs = parts.reduce((sum, { devices }) => sum + Math.max(...devices.map(lastArrivalUs)), 0)
  if (issued < started || issued - started > LONGEST_RUN_MS) return { code: 'WRONG_TIMES', where: 'startedAt' }
  if (1000 * (issued - started) < shownUs) return { code: 'WRONG_TIMES', where: 'arrivalsUs' }
  if (ends <= issued || ends - issued > LONGEST_VALID_MS) return { code: 'WRONG_TIMES', where: 'notAfter' }
  return null
}

const lastArrivalUs = ({ arrivalsUs }: { readonly arrivalsUs: readonly number[] }): number => arrivalsUs.at(-1) ?? 0
