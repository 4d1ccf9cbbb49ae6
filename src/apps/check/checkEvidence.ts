import {
  type CheckedEvidence,
  checkCertificate,
  checkSummary,
  type ReaderRules,
  refused,
} from '../../core/certificate/checkCertificate.ts'
import { type CertificateProblem, isProblem } from '../../core/certificate/problems.ts'
import type { OpeningCount } from '../../core/certificate/reportOfCheck.ts'
import { openingRanges, sampleRanges } from '../../core/proof/openingRanges.ts'
import type { Run } from '../../core/proof/verifyPart.ts'
import type { OpeningChecker } from '../../ports/openingChecker.ts'
import type { Randomness } from '../../ports/randomness.ts'
import { checkOpenings, countOpenings } from '../shared/checkOpenings.ts'

/** A file that was read, or why it was not. */
export type GivenFile = Uint8Array | CertificateProblem

export interface CheckDeps {
  readonly randomness: Randomness
  /** Recompute only so many openings, drawn at random. */
  readonly sample: number | undefined
  openChecker(): Promise<OpeningChecker>
  onOpenings(done: number, of: number): void
}

/** Checks a signed file, or a summary with its certificate. What is refused before its openings needs no threads. */
export async function checkEvidence(
  { file, full }: { readonly file: GivenFile; readonly full: GivenFile | null },
  rules: ReaderRules,
  { randomness, sample, openChecker, onOpenings }: CheckDeps,
  signal: AbortSignal,
): Promise<{ readonly checked: CheckedEvidence; readonly openings: OpeningCount }> {
  let openings: OpeningCount = { all: 0, checked: 0 }
  const recompute = async (run: Run) => {
    const all = openingRanges(run)
    const ranges = sample === undefined ? all : sampleRanges(all, sample, (below) => drawBelow(below, randomness))
    openings = { all: countOpenings(all), checked: countOpenings(ranges) }
    const checker = await openChecker()
    try {
      return await checkOpenings(run, ranges, { checker, signal }, onOpenings)
    } finally {
      await checker.close()
    }
  }
  const check = async (): Promise<CheckedEvidence> => {
    if (isProblem(file)) return refused(file)
    if (full === null) return await checkCertificate(file, rules, recompute)
    return isProblem(full) ? refused(full) : await checkSummary(file, full, rules, recompute)
  }
  const checked = await check()
  return { checked, openings }
}

/** Uniform enough for a sample: 48 random bits scaled down. */
function drawBelow(below: number, randomness: Randomness): number {
  const value = randomness.bytes(6).reduce((sum, byte) => 256 * sum + byte, 0)
  return Math.floor((value / 2 ** 48) * below)
}
