/** One call: is this certificate what it says? For a browser, with everything it needs inside the bundle. */
import { config } from 'zod'
import { createCheck } from '../apps/check/createCheck.ts'
import { fromBase64 } from '../core/bytes/base64.ts'
import type { Catalogue } from '../core/identify/catalogue.ts'
import { openTabChecker } from '../drivers/verifier/openTabChecker.ts'

export type { CheckOptions } from '../apps/check/createCheck.ts'
export type { CheckReport } from '../core/certificate/reportSchemas.ts'
export type { Verdict } from '../core/certificate/verdict.ts'

/** Set by the bundler: kernels/built/engine.wasm in base64, and the catalogue that came with the program. */
declare const TOUCHSTONE_ENGINE: string
declare const TOUCHSTONE_CATALOGUE: Catalogue

// A page that forbids eval need not be told that somebody tried it.
config({ jitless: true })

/** Checks a certificate or a summary in this tab: signatures, challenge, every opening, every figure. */
export const checkCertificate = createCheck({
  catalogue: async () => TOUCHSTONE_CATALOGUE,
  openChecker: (threads) =>
    openTabChecker({
      wasm: fromBase64(TOUCHSTONE_ENGINE)!,
      script: () => new URL('./worker.js', import.meta.url),
      threads,
    }),
  nowMs: () => Date.now(),
})
