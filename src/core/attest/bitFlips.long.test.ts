import { Buffer } from 'node:buffer'
import { expect, test } from 'vitest'
import { bitsIn, snpEvidence, tdxEvidence, unnoticed } from '../../../test/support/attest/cpuFlips.ts'
import { acceptedFlips, bitsOf, flipped, rememberingChecker } from '../../../test/support/attest/flips.ts'
import { refusalOf } from '../../../test/support/attest/refusalOf.ts'
import { pinOf } from '../../../test/support/attest/testAuthority.ts'
import { makeVendor, TestDevice } from '../../../test/support/attest/testNvidia.ts'
import { DRIVER_GOLDEN, makeRim, makeRimSigner } from '../../../test/support/attest/testRim.ts'
import { fixture, hasFixtures, hexFixture, WHY_NOT } from '../../../test/support/attest/vendorFixtures.ts'
import { skipWith } from '../../../test/support/skipWith.ts'
import { toMillis } from '../units/instants.ts'
import type { Arch } from './nvidiaDevice.ts'
import { NVIDIA_POLICY } from './policy.ts'
import { readRim, verifyRim } from './rim.ts'
import { readReport } from './spdm.ts'

const atMs = toMillis('2026-11-01T00:00:00Z')

test.each<Arch>(['HOPPER', 'BLACKWELL', 'LS10'])(
  'every flipped bit of report and chain of a made-up %s is refused',
  async (arch) => {
    const vendor = makeVendor()
    const nonce = Buffer.alloc(32, 3)
    const evidence = new TestDevice(vendor, { arch }).evidence(nonce)
    const bits = Array(bitsOf(evidence)).keys()
    expect(await acceptedFlips(evidence, bits, { nonce, atMs, roots: [pinOf(vendor.root)] })).toEqual([])
  },
)

test.each([
  ['SEV-SNP', () => snpEvidence(atMs)],
  ['TDX of version 4', () => tdxEvidence(atMs)],
  ['TDX of version 5', () => tdxEvidence(atMs, 'long')],
])('every flipped bit of the evidence of a made-up processor is refused: %s', async (_, make) => {
  const evidence = make()
  expect(await unnoticed(evidence, Array(bitsIn(evidence)).keys())).toEqual([])
})

test('20,000 random flipped bits of golden values are refused', async () => {
  const signer = makeRimSigner()
  const rim = makeRim(signer, { version: '550.90.07', golden: DRIVER_GOLDEN })
  const rules = { atMs, roots: [pinOf(signer[3]!)], check: rememberingChecker() }
  await verifyRim(readRim(rim), rules)
  for (let i = 0; i < 20_000; i++) {
    const bit = Math.floor(Math.random() * 8 * rim.length)
    expect(await refusalOf(async () => verifyRim(readRim(flipped(rim, bit)), rules)), `bit ${bit}`).not.toBeNull()
  }
})

if (!hasFixtures) skipWith('every flipped bit of real evidence is refused', WHY_NOT)
else
  test.each<[string, Arch]>([
    ['hopper', 'HOPPER'],
    ['blackwell', 'BLACKWELL'],
    ['switch', 'LS10'],
  ])('every flipped bit of the real %s is refused', async (name, arch) => {
    const report = hexFixture(`attestation-sdk/${name}AttestationReport.txt`)
    const evidence = { arch, report, chain: fixture(`attestation-sdk/${name}CertChain.txt`) }
    const { nonce } = readReport(report)
    const bits = Array(bitsOf(evidence)).keys()
    expect(await acceptedFlips(evidence, bits, { nonce, atMs, roots: NVIDIA_POLICY.roots.device })).toEqual([])
  })
