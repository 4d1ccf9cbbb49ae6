import { toMillis } from '../units/instants.ts'
import type { CertificateProblem } from './problems.ts'
import { LONGEST_VALID_MS } from './statement.ts'

/** C3, of everything that is issued about a work: it began before it was issued, and ends within a year. */
export function receiptTimesProblem(receipt: {
  readonly startedAt: string
  readonly issuedAt: string
  readonly notAfter: string
}): CertificateProblem | null {
  const [started, issued, ends] = [receipt.startedAt, receipt.issuedAt, receipt.notAfter].map(toMillis)
  if (started! > issued!) return { code: 'WRONG_TIMES', where: 'startedAt' }
  if (ends! <= issued! || ends! - issued! > LONGEST_VALID_MS) return { code: 'WRONG_TIMES', where: 'notAfter' }
  return null
}
