/** The catalogue of cards, and what a measurement says about them. */
export type { Catalogue, GpuModel } from '../core/identify/catalogue.ts'
export { CLAIM_CODES, type ClaimCode, type ClaimReason, explainClaim } from '../core/identify/claimReasons.ts'
export { countCards } from '../core/identify/countCards.ts'
export { type GpuIdentity, identifyGpu } from '../core/identify/identifyGpu.ts'
export { judgeClaim } from '../core/identify/judgeClaim.ts'
export { parseCatalogue } from '../core/identify/parseCatalogue.ts'
export { parseClaim } from '../core/identify/parseClaim.ts'
