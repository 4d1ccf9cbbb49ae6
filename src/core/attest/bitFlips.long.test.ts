import { Buffer } from 'node:buffer'
import { expect, test } from 'vitest'
import { acceptedFlips, bitsOf } from '../../../test/support/attest/flips.ts'
import { pinOf } from '../../../test/support/attest/testAuthority.ts'
import { makeVendor, TestDevice } from '../../../test/support/attest/testNvidia.ts'
import { fixture, hasFixtures, hexFixture, WHY_NOT } from '../../../test/support/attest/vendorFixtures.ts'
import { skipWith } from '../../../test/support/skipWith.ts'
import { toMillis } from '../units/instants.ts'
import type { Arch } from './nvidiaDevice.ts'
import { NVIDIA_POLICY } from './policy.ts'
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
