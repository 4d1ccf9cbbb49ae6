import { type CheckedEvidence, checkEvidence, type ReaderRules } from '../../src/core/certificate/checkEvidence.ts'
import type { CertificateProblem } from '../../src/core/certificate/problems.ts'
import type { Catalogue } from '../../src/core/identify/catalogue.ts'
import { openingRanges } from '../../src/core/proof/openingRanges.ts'
import type { TileEngine } from '../../src/core/proof/tileEngine.ts'
import { inlineChecker } from './inlineChecker.ts'
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

/** Everything `touchstone check` does, in this thread. */
export function checkWhole(
  text: string,
  { engine, catalogue }: CheckKit,
  rules: Partial<ReaderRules> = {},
): Promise<CheckedEvidence> {
  const { signal } = new AbortController()
  return checkEvidence(text, { ...readerRules(catalogue), ...rules }, (run) =>
    inlineChecker(engine).check(run, openingRanges(run), () => {}, signal),
  )
}

/** Null when the certificate holds. */
export async function checkCertificate(
  text: string,
  kit: CheckKit,
  trusted: readonly Uint8Array[] = [VALIDATOR.publicKey],
): Promise<CertificateProblem | null> {
  // Runs in real time are checked as well as runs in virtual time; that the latter are over by now is no problem.
  return (await checkWhole(text, kit, { trusted, nowMs: Date.now() })).problem
}
