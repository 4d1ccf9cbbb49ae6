import {
  type CheckedEvidence,
  checkCertificate,
  checkSummary,
  type ReaderRules,
  refused,
} from '../../core/certificate/checkCertificate.ts'
import { mendLineEnd } from '../../core/certificate/envelope.ts'
import { type CertificateProblem, isProblem } from '../../core/certificate/problems.ts'
import type { OpeningCount } from '../../core/certificate/reportOfCheck.ts'
import { openingRanges, sampleRanges } from '../../core/proof/openingRanges.ts'
import type { Run } from '../../core/proof/verifyPart.ts'
import type { OpeningChecker } from '../../ports/openingChecker.ts'
import type { Randomness } from '../../ports/randomness.ts'
import { checkOpenings, countOpenings } from '../shared/checkOpenings.ts'

/** A file that was read, or why it was not. */
export type GivenFile = Uint8Array | CertificateProblem

export interface Recomputing {
  /** Recompute only so many openings, drawn at random; all of them where there is none. */
  readonly sample: { readonly count: number; readonly randomness: Randomness } | undefined
  openChecker(): Promise<OpeningChecker>
  onOpenings(done: number, of: number): void
}

/** Checks a signed file, or a summary with its certificate. What is refused before its openings needs no threads. */
export async function checkEvidence(
  given: { readonly file: GivenFile; readonly full: GivenFile | null },
  rules: ReaderRules,
  { sample, openChecker, onOpenings }: Recomputing,
  signal: AbortSignal,
): Promise<{ readonly checked: CheckedEvidence; readonly openings: OpeningCount; readonly newlineAdded: boolean }> {
  const [file, full] = [withLineEnd(given.file), given.full && withLineEnd(given.full)]
  const newlineAdded = file !== given.file || full !== given.full
  let openings: OpeningCount = { all: 0, checked: 0 }
  const recompute = async (run: Run) => {
    const all = openingRanges(run)
    const ranges = sample ? sampleRanges(all, sample.count, (below) => drawBelow(below, sample.randomness)) : all
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
  return { checked, openings, newlineAdded }
}

/** Mail and clipboards drop the last line end. It is added again, and whoever reads is told; nothing else is mended. */
const withLineEnd = (file: GivenFile): GivenFile => (isProblem(file) ? file : (mendLineEnd(file) ?? file))

/** Uniform enough for a sample: 48 random bits scaled down. */
function drawBelow(below: number, randomness: Randomness): number {
  const value = randomness.bytes(6).reduce((sum, byte) => 256 * sum + byte, 0)
  return Math.floor((value / 2 ** 48) * below)
}
