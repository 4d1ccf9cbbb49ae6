import { expect, test } from 'vitest'
import { MAX_CERTIFICATE_BYTES } from '../../src/core/certificate/envelope.ts'
import type { ReadCertificate } from '../../src/core/certificate/readCertificate.ts'
import { readCertificate } from '../../src/core/certificate/readEvidence.ts'
import { kindOf, type PlannedPart } from '../../src/core/proof/partKinds.ts'
import { ALONE_SHARE, boundedRounds } from '../../src/core/proof/planPart.ts'
import { shippedCatalogue } from '../sim/shippedCatalogue.ts'
import { syntheticCertificate } from '../support/syntheticCertificate.ts'

test('attack 118: the longest run of 32 devices that a box can buy makes a file that can be read', async () => {
  const devices = 32
  const all = 2 ** devices - 1
  const longest = (plan: readonly PlannedPart[]) =>
    plan.map((part) => {
      if (part.kind !== 'rounds' && part.kind !== 'bind') return part
      const most = boundedRounds(Number.MAX_SAFE_INTEGER, devices)
      return { ...part, rounds: part.mask === all ? most : Math.ceil(most / ALONE_SHARE) }
    })
  const text = syntheticCertificate({ catalogue: await shippedCatalogue(), id: 'h200-sxm', devices, replan: longest })
  const { run } = readCertificate(text, () => true) as ReadCertificate
  const { parts } = run.challenge
  const openings = run.parts.flatMap((evidence, p) =>
    evidence.devices.map(({ device }) => parts[p]!.openings * kindOf(parts[p]!).openingBytes(parts, p, device)),
  )
  // The synthetic run has no openings; they would be base64 within base64.
  const bytes = text.length + (16 / 9) * openings.reduce((sum, each) => sum + each, 0)
  expect(bytes).toBeGreaterThan(MAX_CERTIFICATE_BYTES / 2)
  expect(bytes).toBeLessThan(MAX_CERTIFICATE_BYTES)
})
