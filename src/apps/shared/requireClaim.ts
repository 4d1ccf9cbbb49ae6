import { printable } from '../../core/bytes/printable.ts'
import type { Catalogue } from '../../core/identify/catalogue.ts'
import { parseClaim } from '../../core/identify/parseClaim.ts'
import { fault } from './faults.ts'

export interface ClaimAtTheDoor {
  readonly text: string
  readonly catalogue: Catalogue
  /** The file and line that holds it, where one does. */
  readonly where?: string
}

/** Refuses a claim that names no card before anything rests on it: a typing mistake must not cost a run and settle nothing. */
export function requireClaim({ text, catalogue, where }: ClaimAtTheDoor): void {
  const parsed = parseClaim(text, catalogue)
  if (parsed.ok) return
  const place = where === undefined ? '' : `${where}: `
  throw fault('BAD_CLAIM', {
    place,
    claim: printable(text, 80),
    problem: parsed.problem,
    mend: `${parsed.nextStep.charAt(0).toUpperCase()}${parsed.nextStep.slice(1)}.`,
  })
}
