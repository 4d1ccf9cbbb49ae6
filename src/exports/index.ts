/** One call: is this certificate what it says? For Node; a browser gets `browser.ts`, with the same names. */
import { fileURLToPath } from 'node:url'
import { asOptions } from '../apps/check/asOptions.ts'
import { createCheck } from '../apps/check/createCheck.ts'
import { withFastYes } from '../core/bytes/ed25519.ts'
import { reportOfCheck } from '../core/certificate/reportOfCheck.ts'
import { loadCatalogue } from '../drivers/system/loadCatalogue.ts'
import { opensslCheck } from '../drivers/system/nativeSigner.ts'
import { systemClock } from '../drivers/system/systemClock.ts'
import { openThreadedChecker } from '../drivers/verifier/openThreadedChecker.ts'

export type { CheckOptions } from '../apps/check/createCheck.ts'
export type { CheckReport } from '../core/certificate/reportSchemas.ts'
export type { Verdict } from '../core/certificate/verdict.ts'

const SHIPPED = new URL('../../catalogue/gpus.yaml', import.meta.url)

/** Checks a certificate or a summary offline: signatures, challenge, every opening, every figure. */
export const checkCertificate = createCheck(
  {
    catalogue: () => loadCatalogue(fileURLToPath(SHIPPED)),
    openChecker: openThreadedChecker,
    nowMs: () => systemClock.wallTime().getTime(),
    checkSignature: withFastYes(opensslCheck),
  },
  (checked) => reportOfCheck(checked, asOptions),
)
