import { Buffer } from 'node:buffer'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { rememberingChecker } from '../../../test/support/attest/flips.ts'
import { refusalOf } from '../../../test/support/attest/refusalOf.ts'
import { pinOf } from '../../../test/support/attest/testAuthority.ts'
import { makeVendor, TestDevice } from '../../../test/support/attest/testNvidia.ts'
import {
  DRIVER_GOLDEN,
  makeRim,
  makeRimSigner,
  measuring,
  type RimWishes,
  SWITCH_GOLDEN,
  VBIOS_GOLDEN,
} from '../../../test/support/attest/testRim.ts'
import { fixture, hasFixtures, WHY_NOT } from '../../../test/support/attest/vendorFixtures.ts'
import { skipWith } from '../../../test/support/skipWith.ts'
import { checkVendorSignature } from '../../drivers/system/checkVendorSignature.ts'
import { toMillis } from '../units/instants.ts'
import { verifyMeasurements } from './measurements.ts'
import { verifyNvidiaDevice } from './nvidiaDevice.ts'
import { NVIDIA_POLICY } from './policy.ts'
import type { Refusal } from './refusals.ts'
import { readRim, verifyRim } from './rim.ts'
import { canonicalXml, readXml } from './xml.ts'

const atMs = toMillis('2026-11-15T00:00:00Z')
const vendor = makeVendor()
const signer = makeRimSigner()
const rules = { atMs, roots: [pinOf(signer[3]!)], check: rememberingChecker() }
const deviceRules = { ...rules, roots: [pinOf(vendor.root)] }
const nonce = Buffer.alloc(32, 1)
const gpu = new TestDevice(vendor)
const rimOf = (wishes: RimWishes, by = signer) => makeRim(by, wishes)
const driver = rimOf({ version: '550.90.07', golden: DRIVER_GOLDEN })
const vbios = rimOf({ version: '96.00.9f.00.01', golden: VBIOS_GOLDEN })
const right = measuring(DRIVER_GOLDEN, VBIOS_GOLDEN)
const verifiedGpu = (measurements = right, fields = {}) =>
  verifyNvidiaDevice(gpu.evidence(nonce, { measurements, fields }), nonce, deviceRules)

describe('golden values of a made-up vendor', () => {
  test('a device that runs what was released has every measurement right', async () => {
    expect(await verifyMeasurements(await verifiedGpu(), [driver, vbios].map(readRim), rules)).toMatchObject({
      missing: null,
    })
    const board = new TestDevice(vendor, { arch: 'LS10' })
    const seen = await verifyNvidiaDevice(
      board.evidence(nonce, { measurements: measuring(SWITCH_GOLDEN) }),
      nonce,
      deviceRules,
    )
    const its = rimOf({ version: '96.10.55.00.01', product: 'LS10', edition: 'SWITCH', golden: SWITCH_GOLDEN })
    expect(await verifyMeasurements(seen, [readRim(its)], rules)).toMatchObject({ missing: null })
  })

  test('which golden values are missing is told', async () => {
    const other = rimOf({ version: '550.90.07', product: 'GB100', golden: DRIVER_GOLDEN })
    expect(await verifyMeasurements(await verifiedGpu(), [readRim(vbios)], rules)).toMatchObject({ missing: 'driver' })
    expect(await verifyMeasurements(await verifiedGpu(), [readRim(driver)], rules)).toMatchObject({ missing: 'vbios' })
    expect(await verifyMeasurements(await verifiedGpu(), [other, vbios].map(readRim), rules)).toMatchObject({
      missing: 'driver',
    })
  })

  test('one of several alternatives is enough, and a file signed anew replaces an expired one', async () => {
    const [first] = DRIVER_GOLDEN[7]!
    const more = rimOf({ version: '550.90.07', golden: { ...DRIVER_GOLDEN, 7: [Buffer.alloc(48, 9), first!] } })
    const expired = makeRimSigner({ notAfterMs: atMs - 1000 })
    const old = rimOf({ version: '550.90.07', golden: DRIVER_GOLDEN }, expired)
    const both = { ...rules, roots: [...rules.roots, pinOf(expired[3]!)] }
    expect(await verifyMeasurements(await verifiedGpu(), [old, more, vbios].map(readRim), both)).toMatchObject({
      missing: null,
    })
    expect(await refusalOf(verifyMeasurements(await verifiedGpu(), [old, vbios].map(readRim), both))).toMatchObject({
      code: 'CHAIN_EXPIRED',
    })
  })

  test('any measurement that differs is refused, but for a decoder that is switched off', async () => {
    for (const index of [0, 7, 12, 35, 40]) {
      const seen = await verifiedGpu({ ...right, [index]: Buffer.alloc(48, 1) })
      expect(await refusalOf(verifyMeasurements(seen, [driver, vbios].map(readRim), rules))).toEqual({
        code: 'MEASUREMENT_DIFFERS',
        got: index,
      })
    }
    const off = await verifiedGpu({ ...right, 35: Buffer.alloc(48) }, { 11: Buffer.of(0x55) })
    expect(await verifyMeasurements(off, [driver, vbios].map(readRim), rules)).toMatchObject({ missing: null })
  })

  const conflict = rimOf({ version: '96.00.9F.00.01', golden: { ...VBIOS_GOLDEN, 7: DRIVER_GOLDEN[7]! } })
  const stranger = rimOf({ version: '550.90.07', golden: DRIVER_GOLDEN }, makeRimSigner())
  const edited = Buffer.from(driver.toString('latin1').replace('active="False"', 'active="True"'))
  const cut = Buffer.from(driver.toString('latin1').replace(/<ds:X509Certificate>[^<]*<\/ds:X509Certificate>/, ''))
  test.each<[string, Buffer[], Refusal['code']]>([
    ['that speak of one measurement twice', [driver, conflict], 'RIM_CONFLICT'],
    ["under a stranger's root", [stranger, vbios], 'UNKNOWN_ROOT'],
    ['that were edited', [edited, vbios], 'RIM_SIGNATURE'],
    ['with a certificate less', [cut, vbios], 'CHAIN_LENGTH'],
  ])('%s are refused', async (_, files, code) => {
    const seen = await verifiedGpu()
    expect(await refusalOf(async () => verifyMeasurements(seen, files.map(readRim), rules))).toMatchObject({ code })
  })
})

describe('XML', () => {
  const a = '<a xmlns="u" xmlns:p="v" z="1" p:y="2" b="3"><p:c/>t<d xmlns="u" xmlns:q="w"></d></a>'

  test('is written in the canonical form', () => {
    expect(canonicalXml(readXml(Buffer.from(a)))).toBe(
      '<a xmlns="u" xmlns:p="v" b="3" z="1" p:y="2"><p:c></p:c>t<d xmlns:q="w"></d></a>',
    )
  })

  test.each([
    '',
    'text',
    '<a>',
    '<a></b>',
    '<a/><b/>',
    ' <a/>',
    '<a/> ',
    '<?xml version="1.0"?><a/>',
    '<!DOCTYPE a [<!ENTITY x "y">]><a/>',
    '<a><!-- c --></a>',
    '<a><![CDATA[x]]></a>',
    '<a>&amp;</a>',
    '<a b="&lt;"/>',
    "<a b='1'/>",
    '<a b="1" b="2"/>',
    '<p:a/>',
    '<a p:b="1"/>',
    '<a xmlns=""/>',
    '<a:b:c xmlns:a="u"/>',
    '<a>\u00e9</a>',
    '<a>\t</a>',
    '<a  b="1"/>',
    '<a>></a>',
  ])('%j is refused', async (text) => {
    expect(await refusalOf(() => readXml(Buffer.from(text)))).toEqual({ code: 'EVIDENCE_MALFORMED', where: 'XML' })
  })

  test.each<[string, () => string]>([
    ['many elements', () => `<a>${'<b/>'.repeat(60_000)}</a>`],
    ['many attributes', () => `<a${Array.from({ length: 20_000 }, (_, i) => ` b${i}="1"`).join('')}/>`],
    ['deep nesting', () => '<a>'.repeat(80_000)],
    ['an attribute that never ends', () => `<a b="${'x'.repeat(250_000)}`],
    ['a tag that never ends', () => `<${'a'.repeat(250_000)}`],
    ['nothing but less-than signs', () => '<'.repeat(250_000)],
    ['more than is read', () => `<a>${' '.repeat(300_000)}</a>`],
    ['many megabytes', () => ' '.repeat(20_000_000)],
  ])('attack 124: %s is refused', async (_, make) => {
    const bytes = Buffer.from(make())
    expect(await refusalOf(() => readRim(bytes))).toMatchObject({ code: 'EVIDENCE_MALFORMED' })
  })

  test('what is read is written once: its canonical form is its own', () => {
    const name = fc.constantFrom('a', 'b', 'p:c', 'p:d')
    const attribute = fc.tuple(fc.constantFrom('x', 'y', 'p:z'), fc.stringMatching(/^[a-z ]{0,6}$/))
    const within = (inner: fc.Arbitrary<string>) =>
      fc
        .tuple(
          name,
          fc.uniqueArray(attribute, { maxLength: 3, selector: ([key]) => key }),
          fc.stringMatching(/^[a-z\n ]{0,6}$/),
          fc.array(inner, { maxLength: 3 }),
        )
        .map(([tag, attributes, text, inside]) => {
          const written = attributes.map(([key, value]) => ` ${key}="${value}"`).join('')
          return `<${tag}${written}>${text}${inside.join('')}</${tag}>`
        })
    const tree = within(within(within(fc.constant('<b/>'))))
    fc.assert(
      fc.property(tree, (inside) => {
        const written = canonicalXml(readXml(Buffer.from(`<r xmlns="u" xmlns:p="v">${inside}</r>`)))
        expect(canonicalXml(readXml(Buffer.from(written)))).toBe(written)
      }),
    )
  })
})

if (!hasFixtures) skipWith('golden values that NVIDIA signed', WHY_NOT)
else
  describe('golden values that NVIDIA signed', () => {
    const real = { atMs: toMillis('2025-10-24T12:00:00Z'), roots: NVIDIA_POLICY.roots.rim, check: checkVendorSignature }
    const go = 'go-nvattest-tools/rim'
    const driverFile = `${go}/NV_GPU_DRIVER_GH100_550.90.07.xml`
    const vbiosFile = `${go}/NV_GPU_VBIOS_1010_0200_882_96009F0001.xml`

    test.each([
      [driverFile, '550.90.07', 21, '2025-10-24'],
      [vbiosFile, '96.00.9F.00.01', 12, '2025-10-24'],
      ['attestation-sdk/NV_GPU_DRIVER_GH100_550.144.03.xml', '550.144.03', 21, '2025-10-24'],
      ['nvtrust/1010_0200_882_96005E0001_PROD.swidtag', '96.00.5E.00.01', 12, '2025-06-01'],
      [
        'attestation-sdk/switchVBIOSRim_NV_SWITCH_BIOS_5612_0002_890_9610550001.xml',
        '96.10.55.00.01',
        31,
        '2026-06-01',
      ],
    ])('%s is accepted', async (path, version, active, day) => {
      const rim = readRim(fixture(path))
      expect(rim).toMatchObject({ version })
      expect(rim.active.size).toBe(active)
      await verifyRim(rim, { ...real, atMs: toMillis(`${day}T12:00:00Z`) })
    })

    test.each<[string, Refusal['code']]>([
      ['attestation-sdk/NV_GPU_DRIVER_GH100_570.124.03_expired.xml', 'RIM_SIGNATURE'],
      ['attestation-sdk/incorrect_cert_chain_driver_rim.xml', 'CHAIN_LENGTH'],
      ['attestation-sdk/incorrect_signature_driver_rim.xml', 'RIM_SIGNATURE'],
      ...[
        'duplicate_index',
        'empty_payload',
        'hash_empty_namespace',
        'invalid_alternatives',
        'invalid_base64_cert',
      ].map(named),
      ...['invalid_cert_bytes', 'invalid_index', 'invalid_pem_data', 'invalid_size', 'missing_alternatives'].map(named),
      ...['missing_colloquial_version', 'missing_hash', 'missing_index', 'missing_meta', 'missing_size'].map(named),
      ...['missing_x509_certificate', 'missing_x509_data', 'no_payload'].map(named),
    ])('%s is refused', async (path, code) => {
      expect(await refusalOf(async () => verifyRim(readRim(fixture(path)), real))).toMatchObject({ code })
    })

    test('today the leaf of an older file has expired', async () => {
      const today = { ...real, atMs }
      expect(await refusalOf(verifyRim(readRim(fixture(driverFile)), today))).toMatchObject({ code: 'CHAIN_EXPIRED' })
    })

    test('the GPU of go-nvattest-tools measures what NVIDIA released', async () => {
      const asked = Buffer.from('931d8dd0add203ac3d8b4fbde75e115278eefcdceac5b87671a748f32364dfcb', 'hex')
      const evidence = {
        arch: 'HOPPER' as const,
        report: fixture('go-nvattest-tools/test_raw_gpu_attestation_report.dat'),
        chain: fixture('go-nvattest-tools/test_gpu_attestation_certificate_chain.dat'),
      }
      const seen = await verifyNvidiaDevice(evidence, asked, { ...real, roots: NVIDIA_POLICY.roots.device })
      const rims = [driverFile, vbiosFile].map((path) => readRim(fixture(path)))
      expect(await verifyMeasurements(seen, rims, real)).toMatchObject({ missing: null })
    })
  })

function named(name: string): [string, Refusal['code']] {
  return [`go-nvattest-tools/rim/failure_${name}.xml`, 'EVIDENCE_MALFORMED']
}
