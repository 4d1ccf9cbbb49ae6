import { Buffer } from 'node:buffer'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { bundleOf } from '../../../test/support/attest/attestRun.ts'
import { refusalOf } from '../../../test/support/attest/refusalOf.ts'
import { makeVendor, TestDevice } from '../../../test/support/attest/testNvidia.ts'
import { toBase64 } from '../bytes/base64.ts'
import { toHex } from '../bytes/hex.ts'
import { BUNDLE_FORMAT, type Bundle, readBundle, writeBundle } from './bundle.ts'
import { NVIDIA_POLICY, policySchema } from './policy.ts'
import type { Refusal } from './refusals.ts'

const nonce = Buffer.alloc(32, 0xab)
const rims = [Buffer.from('golden values'), Buffer.from('of two parts')]
const whole = bundleOf([new TestDevice(makeVendor())], nonce, { rims })
const [own] = whole.devices as [Bundle['devices'][number]]

describe('the file', () => {
  const json = { format: BUNDLE_FORMAT, devices: [stated(own)], rims: rims.map(toBase64), ocsp: [], cpu: null }

  test('is read as it was written, in our form and in that of NVIDIA', () => {
    expect(readBundle(Buffer.from(JSON.stringify(json)))).toEqual({
      ...whole,
      rims: rims.map((one) => new Uint8Array(one)),
      ocsp: [],
      devices: [unbuffered()],
    })
    const list = [{ ...stated(own), firmware_version: 'x' }]
    expect(readBundle(Buffer.from(JSON.stringify(list))).devices).toEqual([unbuffered()])
  })

  const unbuffered = () => ({
    ...own,
    report: new Uint8Array(own.report),
    chain: new Uint8Array(own.chain),
    nonce: new Uint8Array(nonce),
  })

  test.each<[string, unknown, Refusal['code']]>([
    ['no device', { ...json, devices: [] }, 'EVIDENCE_MALFORMED'],
    ['a field nobody knows', { ...json, more: 1 }, 'EVIDENCE_MALFORMED'],
    ['a kind nobody knows', [{ ...stated(own), arch: 'AMPERE' }], 'EVIDENCE_MALFORMED'],
    ['a nonce too short', [{ ...stated(own), nonce: 'ab' }], 'EVIDENCE_MALFORMED'],
    ['broken base64', [{ ...stated(own), evidence: 'A' }], 'EVIDENCE_MALFORMED'],
    ['65 devices', Array(65).fill(stated(own)), 'EVIDENCE_MALFORMED'],
    ['five megabytes', ['x'.repeat(5 * 2 ** 20)], 'EVIDENCE_TOO_LARGE'],
    ['depth', JSON.parse(`${'['.repeat(500)}${']'.repeat(500)}`), 'EVIDENCE_MALFORMED'],
  ])('with %s is refused', async (_, value, code) => {
    expect(await refusalOf(() => readBundle(Buffer.from(JSON.stringify(value))))).toMatchObject({ code })
  })

  test('attack 249: a megabyte of small values is refused before anybody reads it', async () => {
    const [device] = JSON.parse(new TextDecoder().decode(writeBundle(whole))).devices
    const fields = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`f${i}`, 0]))
    const read = (count: number) => readBundle(Buffer.from(JSON.stringify([{ ...device, ...fields(count) }])))
    expect(read(1000).devices).toHaveLength(1)
    expect(await refusalOf(() => read(20_000))).toEqual({ code: 'EVIDENCE_MALFORMED', where: 'values' })
  })

  test('any other bytes are refused', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.uint8Array({ maxLength: 200 }),
          fc.json().map((text) => Buffer.from(text)),
        ),
        async (bytes) => {
          expect(await refusalOf(() => readBundle(bytes))).not.toBeNull()
        },
      ),
    )
  })

  test('the policy that is built in is one', () => expect(policySchema.parse(NVIDIA_POLICY)).toEqual(NVIDIA_POLICY))
})

function stated({ arch, report, chain }: { arch: string; report: Uint8Array; chain: Uint8Array }) {
  return { arch, nonce: toHex(nonce), evidence: toBase64(report), certificate: toBase64(chain) }
}

test("attack 131: what a sender called his fields reaches the reader's terminal as plain letters", async () => {
  const collateral = { '\u001b[2J\u001b[1;32mAS CLAIMED\n': 1 }
  const file = JSON.stringify({
    format: BUNDLE_FORMAT,
    devices: [{ arch: 'HOPPER', nonce: '00'.repeat(32), evidence: '', certificate: '' }],
    rims: [],
    ocsp: [],
    cpu: { kind: 'tdx', quote: '', collateral },
  })
  const refusal = await refusalOf(() => readBundle(new TextEncoder().encode(file)))
  expect(refusal?.where).toMatch(/^[\x20-\x7e]+$/)
})
