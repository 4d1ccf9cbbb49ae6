/** One call: is this certificate what it says? For a browser, with everything it needs inside the bundle. */
import { asOptions } from '../apps/check/asOptions.ts'
import { createCheck } from '../apps/check/createCheck.ts'
import { reportOfCheck } from '../core/certificate/reportOfCheck.ts'
import { inTab } from './inTab.ts'

export type { CheckOptions } from '../apps/check/createCheck.ts'
export type { CheckReport } from '../core/certificate/reportSchemas.ts'
export type { Verdict } from '../core/certificate/verdict.ts'

/** Checks a certificate or a summary in this tab: signatures, challenge, every opening, every figure. */
export const checkCertificate = createCheck(
  inTab(() => new URL('./worker.js', import.meta.url)),
  (checked) => reportOfCheck(checked, asOptions),
)
