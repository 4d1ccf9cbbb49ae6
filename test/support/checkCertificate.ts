import { judgementProblem } from '../../src/core/certificate/judgementProblem.ts'
import type { CertificateProblem } from '../../src/core/certificate/problems.ts'
import { readCertificate } from '../../src/core/certificate/readCertificate.ts'
import type { Catalogue } from '../../src/core/identify/catalogue.ts'
import { openingRanges } from '../../src/core/proof/openingRanges.ts'
import type { TileEngine } from '../../src/core/proof/tileEngine.ts'
import { inlineChecker } from './inlineChecker.ts'
import { VALIDATOR } from './verifyInProcess.ts'

/** Everything `touchstone check` does, in this thread; null when the certificate holds. */
export async function checkCertificate(
  text: string,
  { engine, catalogue }: { readonly engine: TileEngine; readonly catalogue: Catalogue },
  trusted: readonly Uint8Array[] = [VALIDATOR.publicKey],
): Promise<CertificateProblem | null> {
  const read = readCertificate(text, (key) => trusted.some((other) => other.every((byte, i) => byte === key[i])))
  if ('code' in read) return read
  const found = await inlineChecker(engine).check(
    read.run,
    openingRanges(read.run),
    () => {},
    new AbortController().signal,
  )
  return judgementProblem(read, catalogue, found).problem
}
