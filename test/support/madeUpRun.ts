import type { Challenge } from '../../src/core/proof/challenge.ts'
import type { Part } from '../../src/core/proof/partKinds.ts'
import type { DeviceEvidence, PartEvidence } from '../../src/core/proof/verifyPart.ts'

const PART = {
  kind: 'rounds',
  precision: 'int8',
  m: 64,
  n: 64,
  k: 64,
  rounds: 1,
  openings: 1,
  mask: 1,
  limitMs: 1000,
  openLimitMs: 1000,
  kept: [0],
  nonceHash: new Uint8Array(32),
} as const satisfies Part

/** A whole part of one device, but for what a test is about. */
export const madeUpPart = (about: Partial<Part>): Part => ({ ...PART, ...about }) as Part

export const madeUpChallenge = (parts: readonly Part[]): Challenge => ({
  version: 2,
  runId: new Uint8Array(16),
  validatorKey: new Uint8Array(32),
  proverKey: new Uint8Array(32),
  deviceCount: parts[0]!.kept.length,
  parts,
})

/** What the devices said in a part, in times alone: there is nothing to open. */
export const madeUpEvidence = (
  devices: readonly Pick<DeviceEvidence, 'device' | 'arrivalsUs'>[],
  zSentUs: number | null = null,
): PartEvidence => ({
  s: new Uint8Array(32),
  z: zSentUs === null ? null : new Uint8Array(32),
  zSentUs,
  nonce: new Uint8Array(32),
  devices: devices.map((times) => ({
    ...times,
    roots: times.arrivalsUs.map(() => new Uint8Array(32)),
    openings: new Uint8Array(0),
  })),
})
