import {
  type CheckedEvidence,
  checkCertificate,
  type ReaderRules,
} from '../../src/core/certificate/checkCertificate.ts'
import type { CertificateProblem } from '../../src/core/certificate/problems.ts'
import type { Catalogue } from '../../src/core/identify/catalogue.ts'
import { verifyAllOpenings } from '../../src/core/proof/openingRanges.ts'
import type { TileEngine } from '../../src/core/proof/tileEngine.ts'
import { exitOfCheck } from '../../src/main/exitCodes.ts'
import { VALIDATOR } from './verifyInProcess.ts'

export interface CheckKit {
  readonly engine: TileEngine
  readonly catalogue: Catalogue
}

/** Who trusts the validator of tests and asks nothing more, on the day the virtual clock begins. */
export const readerRules = (catalogue: Catalogue): ReaderRules => ({
  nowMs: Date.UTC(2026, 0, 2),
  catalogue,
  trusted: [VALIDATOR.publicKey],
  revocations: [],
  threshold: 1,
  required: [],
  prover: null,
  maxAgeSeconds: null,
})

export const fileOf = (text: string): Uint8Array => Buffer.from(text, 'latin1')

/** Null when the certificate holds. */
export async function problemOf(text: string, { engine, catalogue }: CheckKit): Promise<CertificateProblem | null> {
  // Runs in real time are checked as well as runs in virtual time; that the latter are over by now is no problem.
  const rules = { ...readerRules(catalogue), nowMs: Date.now() }
  return (await checkCertificate(fileOf(text), rules, (run) => verifyAllOpenings(run, engine))).problem
}

/** How `touchstone check` ends, and with which codes; plain "0" where nothing is amiss. */
export const endOf = (checked: CheckedEvidence): string =>
  [exitOfCheck(checked), checked.problem?.code, ...checked.doubts.map(({ code }) => code)].filter(Boolean).join(' ') ||
  '0'
