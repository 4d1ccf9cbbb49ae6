/** The catalogue of cards, and what a measurement says about them. Throws `RangeError` where something is no measurement. */
import * as counting from '../core/identify/countCards.ts'
import * as identifying from '../core/identify/identifyGpu.ts'
import * as judging from '../core/identify/judgeClaim.ts'
import { requireClaimQuestion, requireMeasured, requireTotals } from './measuredForms.ts'
import { requireCatalogue } from './requireCatalogue.ts'

/** How many cards it was at the least. */
export const countCards: typeof counting.countCards = (devices, catalogue, ...rules) => {
  requireTotals(devices, ...rules)
  requireCatalogue(catalogue)
  return counting.countCards(devices, catalogue, ...rules)
}

/** Which card it most likely is. */
export const identifyGpu: typeof identifying.identifyGpu = (measured, catalogue) => {
  requireMeasured(measured)
  requireCatalogue(catalogue)
  return identifying.identifyGpu(measured, catalogue)
}

/** Whether the box is what was sold. Which cards they are it finds out itself. */
export function judgeClaim(question: Omit<judging.ClaimQuestion, 'identities'>): ReturnType<typeof judging.judgeClaim> {
  requireClaimQuestion(question)
  return judging.judgeClaim(question)
}

export type { Catalogue, GpuModel } from '../core/identify/catalogue.ts'
export { CLAIM_CODES, type ClaimCode, type ClaimReason, explainClaim } from '../core/identify/claimReasons.ts'
export type { GpuIdentity } from '../core/identify/identifyGpu.ts'
export { parseCatalogue } from '../core/identify/parseCatalogue.ts'
export { parseClaim } from '../core/identify/parseClaim.ts'
