/**
 * Proof of GPU: the protocol's data and its verification. Pure; runs in Node and in a browser. Throws `RangeError` where
 * something is no run, no challenge or no range of openings. A run whose maker knew its nonces beforehand proves nothing,
 * and nothing in it shows that: whoever signs a certificate vouches for it.
 */
import * as challenges from '../core/proof/challenge.ts'
import * as figures from '../core/proof/figures.ts'
import * as openings from '../core/proof/openingRanges.ts'
import * as verifying from '../core/proof/verifyPart.ts'
import { requireChallenge, requireCount, requirePart, requireRange, requireRanges, requireRun } from './runForms.ts'

export const encodeChallenge: typeof challenges.encodeChallenge = (challenge) => {
  requireChallenge(challenge)
  return challenges.encodeChallenge(challenge)
}

/** Every figure of a run whose roots are those that were asked for, in time. */
export const figuresOf: typeof figures.figuresOf = (run) => {
  requireRun(run)
  if (run.parts.some((_, p) => verifying.verifyRoots(run, p))) throw new RangeError('run: its roots are refused')
  return figures.figuresOf(run)
}

/** Every opening of the parts that ran. */
export const openingRanges: typeof openings.openingRanges = (run) => {
  requireRun(run)
  return openings.openingRanges(run)
}

/** A random sample of at least one opening; `draw(n)` gives a whole number below n. */
export const sampleRanges: typeof openings.sampleRanges = (ranges, count, draw) => {
  requireRanges(ranges)
  requireCount(count)
  return openings.sampleRanges(ranges, count, (below) => {
    const drawn = draw(below)
    if (Number.isInteger(drawn) && drawn >= 0 && drawn < below) return drawn
    throw new RangeError(`draw: a whole number below ${below} expected`)
  })
}

/** The first reason against the roots of a run, which draw its openings (attack 452), or against any opening; in one thread. */
export const verifyAllOpenings: typeof openings.verifyAllOpenings = (run, engine) => {
  requireRun(run)
  for (const p of run.parts.keys()) {
    const reason = verifying.verifyRoots(run, p)
    if (reason) return reason
  }
  return openings.verifyAllOpenings(run, engine)
}

/** The first reason against the roots of their part, or against one of these openings. */
export const verifyOpenings: typeof verifying.verifyOpenings = (run, range, engine) => {
  requireRun(run)
  requireRange(run, range)
  return verifying.verifyRoots(run, range.part) ?? verifying.verifyOpenings(run, range, engine)
}

/** Whether every root of a part came, in time. */
export const verifyRoots: typeof verifying.verifyRoots = (run, p) => {
  requireRun(run)
  requirePart(run, p)
  return verifying.verifyRoots(run, p)
}

export { PRECISIONS, type Precision } from '../core/params/precision.ts'
export { PRESETS, type Preset, type PresetName } from '../core/params/presets.ts'
export { type Challenge, challengeHash, decodeChallenge } from '../core/proof/challenge.ts'
export type { Figure } from '../core/proof/figures.ts'
export type { Part } from '../core/proof/partKinds.ts'
export { explainReason, REASONS, type RejectCode, type RejectReason } from '../core/proof/reasons.ts'
export { referenceEngine } from '../core/proof/referenceEngine.ts'
export type { TileEngine, TileRequest } from '../core/proof/tileEngine.ts'
export type { DeviceEvidence, OpeningRange, PartEvidence, Run } from '../core/proof/verifyPart.ts'
