import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Challenge } from './challenge.ts'
import type { Part } from './partKinds.ts'
import { timingsOf } from './timingsOf.ts'
import type { PartEvidence } from './verifyPart.ts'

const part = (kind: Part['kind'], rounds: number, kept: number): Part => ({
  ...{ kind, precision: 'int8', m: 64, n: 64, k: 64, rounds, kept: [kept], openings: 1, mask: 1 },
  ...{ limitMs: 1000, openLimitMs: 1000, nonceHash: new Uint8Array(32) },
})

function timings(asked: Part, arrivalsUs: readonly number[], zSentUs: number | null, roundTripSeconds = 0) {
  const key = new Uint8Array(32)
  const runId = new Uint8Array(16)
  const challenge: Challenge = { version: 2, runId, validatorKey: key, proverKey: key, deviceCount: 1, parts: [asked] }
  const device = { device: 0, roots: arrivalsUs.map(() => key), arrivalsUs, openings: new Uint8Array(0) }
  const evidence: PartEvidence = { s: key, z: zSentUs === null ? null : key, zSentUs, nonce: key, devices: [device] }
  return timingsOf(challenge, [evidence], roundTripSeconds)
}

test('a steady box is timed by its gaps, however slow the way to it is', () => {
  fc.assert(
    fc.property(fc.integer({ min: 100, max: 10 ** 6 }), fc.nat(500_000), (gapUs, roundTripUs) => {
      const arrivals = [1, 2, 3].map((root) => roundTripUs + root * gapUs)
      const seconds = timings(part('rounds', 3, 0), arrivals, null, roundTripUs / 1e6).get('rounds int8')!.fastest
      expect(seconds).toBeCloseTo(gapUs / 1e6, 9)
    }),
  )
})

test('roots read in one go never make a round look more than four times as fast as it was', () => {
  const rounds = timings(part('rounds', 2, 0), [2_000_000, 2_000_003], null).get('rounds int8')!
  expect(rounds.fastest).toBeGreaterThanOrEqual(0.25)
  // As many rounds as a part is planned by: at most twice (attack 136).
  const series = timings(part('rounds', 4, 0), [2e6, 2e6 + 1, 2e6 + 2, 2e6 + 3], null).get('rounds int8')!
  expect(series.fastest).toBeGreaterThanOrEqual(0.25)
  const memory = timings(part('memory', 3, 4), [400_000, 400_001, 400_002, 400_003, 700_001, 700_002, 700_003], 400_003)
  expect(memory.get('fill')!.slowest).toBeGreaterThanOrEqual(0.025)
  const fillBytes = 4 * 64 * 64 * 2
  expect(memory.get('pass byte')!.fastest * fillBytes).toBeCloseTo(0.025, 9)
})
