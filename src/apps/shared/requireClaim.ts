import { printable } from '../../core/bytes/printable.ts'
import type { Catalogue } from '../../core/identify/catalogue.ts'
import { type Claim, parseClaim } from '../../core/identify/parseClaim.ts'
import { fault } from './faults.ts'

/**
 * The claim, read. One that names no card is refused before anything rests on it: a typing mistake must not cost a run and settle nothing.
 * `place` is the file and line that holds it, where one does.
 */
export function requireClaim(text: string, catalogue: Catalogue, place = ''): Claim {
  const parsed = parseClaim(text, catalogue)
  if (parsed.ok) return parsed.claim
  throw fault('BAD_CLAIM', {
    place,
    claim: printable(text, 80),
    problem: parsed.problem,
    mend: `${parsed.nextStep.charAt(0).toUpperCase()}${parsed.nextStep.slice(1)}.`,
  })
}
