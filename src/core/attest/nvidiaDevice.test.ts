import { Buffer } from 'node:buffer'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { acceptedFlips, bitsOf } from '../../../test/support/attest/flips.ts'
import { refusalOf } from '../../../test/support/attest/refusalOf.ts'
import { issue, pemOf, pinOf } from '../../../test/support/attest/testAuthority.ts'
import { makeVendor, TestDevice } from '../../../test/support/attest/testNvidia.ts'
import { fixture, hasFixtures, hexFixture, WHY_NOT } from '../../../test/support/attest/vendorFixtures.ts'
import { skipWith } from '../../../test/support/skipWith.ts'
import { checkVendorSignature } from '../../drivers/system/checkVendorSignature.ts'
import { toMillis } from '../units/instants.ts'
import { type Arch, type NvidiaEvidence, verifyNvidiaDevice } from './nvidiaDevice.ts'
import type { Refusal } from './refusals.ts'
import { readReport } from './spdm.ts'

const NVIDIA = 'a90c4eb5acfd3e3d03a25db6a26b84f720ad0503196c627c21ddd48dd85b06a4'
const atMs = toMillis('2026-11-15T00:00:00Z')
const vendor = makeVendor()
const rules = { atMs, roots: [pinOf(vendor.root)], check: checkVendorSignature }
const nonce = Buffer.alloc(32, 7)
const gpu = new TestDevice(vendor)

const verify = (evidence: NvidiaEvidence, asked: Uint8Array = nonce, under = rules) =>
  verifyNvidiaDevice(evidence, asked, under)

describe('a made-up device', () => {
  test.each<Arch>(['HOPPER', 'BLACKWELL', 'LS10'])('of kind %s is accepted under the test root', async (arch) => {
    const device = new TestDevice(vendor, { arch })
    const found = await verify(device.evidence(nonce))
    expect(found).toMatchObject({ arch, pdi: device.pdi })
    expect(found.vbios).toBe(arch === 'LS10' ? '96.10.55.00.01' : '96.00.9F.00.01')
  })

  test("is refused under NVIDIA's root", async () => {
    expect(await refusalOf(verify(gpu.evidence(nonce), nonce, { ...rules, roots: [NVIDIA] }))).toMatchObject({
      code: 'UNKNOWN_ROOT',
      got: pinOf(vendor.root),
    })
  })

  const other = new TestDevice(makeVendor())
  const second = new TestDevice(vendor, { pdi: '1122334455667788' })
  const chainOf = (...holders: Parameters<typeof pemOf>[0]) => ({ ...gpu.evidence(nonce), chain: pemOf(holders) })
  const [leaf, device, provisioner, family, root] = gpu.holders as [never, never, never, never, never]
  const late = issue({ name: 'Test GH100 Identity', ca: true, notAfterMs: atMs - 1000 }, vendor.root)
  const early = issue({ name: 'Test GH100 Identity', ca: true, notBeforeMs: atMs + 1000 }, vendor.root)
  const lateGpu = new TestDevice({ ...vendor, family: late, provisioner: issue({ name: 'P', ca: true }, late) })
  const earlyGpu = new TestDevice({ ...vendor, family: early, provisioner: issue({ name: 'P', ca: true }, early) })
  const noCa = issue({ name: 'Test Provisioner ICA 1', ca: false, keyUsage: 0x06 }, vendor.family)
  const short = issue({ name: 'F', ca: true, pathLength: 0 }, vendor.root)
  const shortGpu = new TestDevice({ ...vendor, family: short, provisioner: issue({ name: 'P', ca: true }, short) })
  const critical = { '1.2.3.4': { value: Buffer.of(5, 0), critical: true } }
  const odd = issue({ name: 'P', ca: true, more: critical }, vendor.family)

  test.each<[string, NvidiaEvidence, Refusal['code']]>([
    ['another nonce', gpu.evidence(Buffer.alloc(32, 8)), 'NONCE_DIFFERS'],
    ["another device's chain", { ...gpu.evidence(nonce), chain: pemOf(second.holders) }, 'REPORT_SIGNATURE'],
    ['a chain of another root', other.evidence(nonce), 'UNKNOWN_ROOT'],
    ['four certificates', chainOf(leaf, device, provisioner, family), 'CHAIN_LENGTH'],
    ['six certificates', chainOf(leaf, device, provisioner, family, root, root), 'CHAIN_LENGTH'],
    ['the chain in reverse', chainOf(root, family, provisioner, device, leaf), 'CHAIN_CONSTRAINT'],
    ["two certificates in each other's place", chainOf(leaf, provisioner, device, family, root), 'CHAIN_BROKEN'],
    ['an expired certificate', lateGpu.evidence(nonce), 'CHAIN_EXPIRED'],
    ['a certificate that is not valid yet', earlyGpu.evidence(nonce), 'CHAIN_NOT_YET_VALID'],
    [
      'an issuer that may not issue',
      new TestDevice({ ...vendor, provisioner: noCa }).evidence(nonce),
      'CHAIN_CONSTRAINT',
    ],
    ['an issuer too far from its leaf', shortGpu.evidence(nonce), 'CHAIN_CONSTRAINT'],
    [
      'a critical extension nobody knows',
      new TestDevice({ ...vendor, provisioner: odd }).evidence(nonce),
      'EVIDENCE_MALFORMED',
    ],
    [
      'a leaf that may sign certificates',
      new TestDevice(vendor, { leafUsage: 0x84 }).evidence(nonce),
      'CHAIN_CONSTRAINT',
    ],
    ['firmware other than certified', gpu.evidence(nonce, { fields: { 20: Buffer.alloc(48, 1) } }), 'FWID_DIFFERS'],
    [
      'a leaf of another device',
      new TestDevice(vendor, { namedKey: vendor.root.spki }).evidence(nonce),
      'DEVICE_KEY_DIFFERS',
    ],
    ['a kind it is not', { ...gpu.evidence(nonce), arch: 'BLACKWELL' }, 'ARCH_DIFFERS'],
    ['fields of a later version', gpu.evidence(nonce, { fields: { 34: Buffer.of(2, 0) } }), 'EVIDENCE_MALFORMED'],
    [
      'a byte too many',
      { ...gpu.evidence(nonce), report: Buffer.concat([gpu.report(nonce), Buffer.of(0)]) },
      'EVIDENCE_MALFORMED',
    ],
    ['a byte too few', { ...gpu.evidence(nonce), report: gpu.report(nonce).subarray(0, -1) }, 'EVIDENCE_MALFORMED'],
    ['nothing', { ...gpu.evidence(nonce), report: Buffer.alloc(0) }, 'EVIDENCE_MALFORMED'],
    ['no chain', { ...gpu.evidence(nonce), chain: Buffer.alloc(0) }, 'EVIDENCE_MALFORMED'],
    ['a huge report', { ...gpu.evidence(nonce), report: Buffer.alloc(1 << 20, 0x11) }, 'EVIDENCE_MALFORMED'],
    ['a huge chain', { ...gpu.evidence(nonce), chain: Buffer.alloc(1 << 20, 0x2d) }, 'EVIDENCE_TOO_LARGE'],
  ])('with %s is refused', async (_, evidence, code) => {
    expect(await refusalOf(verify(evidence))).toMatchObject({ code })
  })

  test('attack 123: 2,000 random flipped bits of report and chain are refused', async () => {
    const evidence = gpu.evidence(nonce)
    const bits = Array.from({ length: 2000 }, () => Math.floor(Math.random() * bitsOf(evidence)))
    expect(await acceptedFlips(evidence, bits, { nonce, ...rules })).toEqual([])
  })

  test('any bytes in place of report or chain are refused, and nothing else happens', async () => {
    const { report, chain } = gpu.evidence(nonce)
    const near = (bytes: Uint8Array) =>
      fc
        .tuple(fc.nat(bytes.length), fc.uint8Array({ minLength: 1, maxLength: 8 }), fc.boolean())
        .map(([at, junk, cut]) => Buffer.concat([bytes.subarray(0, at), junk, ...(cut ? [] : [bytes.subarray(at)])]))
    const junk = fc.uint8Array({ maxLength: 300 })
    await fc.assert(
      fc.asyncProperty(fc.oneof(junk, near(report)), fc.oneof(junk, near(chain)), async (badReport, badChain) => {
        expect(await refusalOf(verify({ arch: 'HOPPER', report: badReport, chain }))).not.toBeNull()
        expect(await refusalOf(verify({ arch: 'HOPPER', report, chain: badChain }))).not.toBeNull()
      }),
      { numRuns: 50 },
    )
  })
})

if (!hasFixtures) skipWith('evidence of real devices', WHY_NOT)
else
  describe('evidence of real devices', () => {
    const real = { atMs, roots: [NVIDIA], check: checkVendorSignature }
    const evidenceOf = (arch: Arch, report: Buffer, chain: Buffer) => ({ arch, report, chain })
    const sdk = (name: string, arch: Arch, end = '') =>
      evidenceOf(
        arch,
        hexFixture(`attestation-sdk/${name}AttestationReport${end}.txt`),
        fixture(`attestation-sdk/${name}CertChain.txt`),
      )
    const asked = ({ report }: NvidiaEvidence) => readReport(report).nonce

    test.each<[string, NvidiaEvidence, object]>([
      ['Hopper', sdk('hopper', 'HOPPER'), { driver: '535.86.09', vbios: '96.00.5E.00.01', pdi: '6a5fafcbd9fa5ca3' }],
      ['Blackwell', sdk('blackwell', 'BLACKWELL'), { driver: '575.32', pdi: 'e6de55c3bdc14277' }],
      ['a switch', sdk('switch', 'LS10'), { vbios: '96.10.55.00.01', pdi: '203eb31ad9ed0008' }],
    ])('%s is accepted', async (_, evidence, found) => {
      expect(await verifyNvidiaDevice(evidence, asked(evidence), real)).toMatchObject(found)
    })

    test('the GPU of go-nvattest-tools is accepted under its nonce', async () => {
      const evidence = evidenceOf(
        'HOPPER',
        fixture('go-nvattest-tools/test_raw_gpu_attestation_report.dat'),
        fixture('go-nvattest-tools/test_gpu_attestation_certificate_chain.dat'),
      )
      const its = Buffer.from('931d8dd0add203ac3d8b4fbde75e115278eefcdceac5b87671a748f32364dfcb', 'hex')
      expect(await verifyNvidiaDevice(evidence, its, real)).toMatchObject({ pdi: '431d480fe5e87274' })
      expect(await refusalOf(verifyNvidiaDevice(evidence, nonce, real))).toMatchObject({ code: 'NONCE_DIFFERS' })
    })

    test.each<[string, NvidiaEvidence]>([
      ['hopper', sdk('hopper', 'HOPPER', 'InvalidSignature')],
      ['switch', sdk('switch', 'LS10', 'InvalidSignature')],
    ])('%s with a wrong signature is refused', async (_, evidence) => {
      expect(await refusalOf(verifyNvidiaDevice(evidence, asked(evidence), real))).toMatchObject({
        code: 'REPORT_SIGNATURE',
      })
    })

    test.each([
      ['hopper', 'spdm_parsed_output.json', 64],
      ['switch', 'switch_spdm_parsed_output.json', 31],
    ])("%s: blocks, nonce and signature are read as NVIDIA's parser reads them", (name, output, blocks) => {
      const report = readReport(hexFixture(`attestation-sdk/parser-oracle/${name}AttestationReport.txt`))
      const parsed = JSON.parse(fixture(`attestation-sdk/${output}`).toString('utf8'))
      expect(report.measurements.size).toBe(blocks)
      const hex = (bytes: Uint8Array) => `0x${Buffer.from(bytes).toString('hex')}`
      expect(hex(report.signature)).toBe(parsed.Signature)
      const read = Object.values<Record<string, unknown>>(parsed.MeasurementRecord.MeasurementBlocks)
      expect([...report.measurements.values()].map(hex)).toEqual(
        read.map((block) => block.DMTFSpecMeasurementValue ?? block.MeasurementValue),
      )
    })
  })
