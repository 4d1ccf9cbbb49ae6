import { Buffer } from 'node:buffer'
import { expect, test } from 'vitest'
import { acceptedFlips, bitsOf } from '../../../test/support/attest/flips.ts'
import { pinOf } from '../../../test/support/attest/testAuthority.ts'
import { makeVendor, TestDevice } from '../../../test/support/attest/testNvidia.ts'
import { toMillis } from '../units/instants.ts'

test('attack 123: 2,000 random flipped bits of report and chain are refused', async () => {
  const vendor = makeVendor()
  const nonce = Buffer.alloc(32, 3)
  const evidence = new TestDevice(vendor).evidence(nonce)
  const bits = Array.from({ length: 2000 }, () => Math.floor(Math.random() * bitsOf(evidence)))
  const rules = { nonce, atMs: toMillis('2026-11-01T00:00:00Z'), roots: [pinOf(vendor.root)] }
  expect(await acceptedFlips(evidence, bits, rules)).toEqual([])
})
