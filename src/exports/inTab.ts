import { config } from 'zod'
import type { CheckDeps } from '../apps/check/createCheck.ts'
import { fromBase64 } from '../core/bytes/base64.ts'
import type { Catalogue } from '../core/identify/catalogue.ts'
import { openTabChecker } from '../drivers/verifier/openTabChecker.ts'

/** Set by the bundler: kernels/built/engine.wasm and engine-relaxed.wasm in base64, and the catalogue that came along. */
declare const TOUCHSTONE_ENGINE: string
declare const TOUCHSTONE_RELAXED_ENGINE: string
declare const TOUCHSTONE_CATALOGUE: Catalogue

// A page that forbids eval need not be told that somebody tried it.
config({ jitless: true })

/** What a check in a tab computes with; `worker` is the bundle of `tabWorker.ts`. */
export const inTab = (worker: () => URL): CheckDeps => ({
  catalogue: async () => TOUCHSTONE_CATALOGUE,
  openChecker: (threads) =>
    openTabChecker({
      wasm: fromBase64(TOUCHSTONE_ENGINE)!,
      relaxed: fromBase64(TOUCHSTONE_RELAXED_ENGINE)!,
      script: worker,
      threads,
    }),
  nowMs: () => Date.now(),
})
