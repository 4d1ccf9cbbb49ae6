import { Buffer } from 'node:buffer'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { rememberingChecker } from '../../../test/support/attest/flips.ts'
import { refusalOf } from '../../../test/support/attest/refusalOf.ts'
import { pinOf } from '../../../test/support/attest/testAuthority.ts'
import { digest, makeVendor, type ReportWishes, TestDevice } from '../../../test/support/attest/testNvidia.ts'
import { answerFor, answersFor, type OcspWishes } from '../../../test/support/attest/testOcsp.ts'
import { DRIVER_GOLDEN, makeRim, makeRimSigner, measuring, VBIOS_GOLDEN } from '../../../test/support/attest/testRim.ts'
import { TestSnp } from '../../../test/support/attest/testSnp.ts'
import { TestTdx } from '../../../test/support/attest/testTdx.ts'
import { fixture, hasFixtures, WHY_NOT } from '../../../test/support/attest/vendorFixtures.ts'
import { skipWith } from '../../../test/support/skipWith.ts'
import { toBase64 } from '../bytes/base64.ts'
import { toHex } from '../bytes/hex.ts'
import { toMillis } from '../units/instants.ts'
import { type AttestationRules, attestationReader } from './attestationReader.ts'
import { cpuReportData } from './binding.ts'
import { BUNDLE_FORMAT, type Bundle, readBundle, writeBundle } from './bundle.ts'
import { type BundleRules, verifyBundle } from './checkBundle.ts'
import { type AttestationPolicy, NVIDIA_POLICY, policySchema } from './policy.ts'
import type { Refusal } from './refusals.ts'
import { readReport } from './spdm.ts'

const atMs = toMillis('2026-11-15T12:00:00Z')
const hour = 3_600_000
const nonce = Buffer.alloc(32, 0xab)
const vendor = makeVendor()
const signer = makeRimSigner()
const amd = new TestSnp()
const gpu = new TestDevice(vendor)
const second = new TestDevice(vendor, { pdi: '1122334455667788' })
const rims = [
  makeRim(signer, { version: '550.90.07', golden: DRIVER_GOLDEN }),
  makeRim(signer, { version: '96.00.9F.00.01', golden: VBIOS_GOLDEN }),
]
const fresh: OcspWishes = { thisUpdateMs: atMs - hour }
const ocsp = [...answersFor(gpu.holders, 1, fresh), ...answersFor(signer, 0, fresh)]
const proverKey = Buffer.alloc(32, 5)
const policy: AttestationPolicy = {
  ...NVIDIA_POLICY,
  roots: {
    ...NVIDIA_POLICY.roots,
    device: [pinOf(vendor.root)],
    rim: [pinOf(signer[3]!)],
    amd: [pinOf(amd.holders[2]!)],
  },
}
const image = { ...policy.cpu, measurements: [toHex(digest('image'))] }
const rules: BundleRules = { policy, check: rememberingChecker(), atMs, nonce, proverKey }
const measurements = measuring(DRIVER_GOLDEN, VBIOS_GOLDEN)
const evidenceOf = (device: TestDevice, wishes: ReportWishes = { measurements }) => ({
  ...device.evidence(nonce, wishes),
  nonce,
})
const own = evidenceOf(gpu)
const whole: Bundle = { devices: [own], rims, ocsp, cpu: null }
const bound = cpuReportData(nonce, proverKey, [readReport(own.report).signed])
const withCpu = (report: Buffer): Bundle => ({
  ...whole,
  cpu: { kind: 'sev-snp', report, certificates: amd.certificates },
})
const under = (changed: Partial<AttestationPolicy>): BundleRules => ({ ...rules, policy: { ...policy, ...changed } })

describe('a bundle', () => {
  test('with everything is of tier B, and with its processor of tier A', async () => {
    expect(await verifyBundle(whole, rules)).toMatchObject({ tier: 'B', doubts: [] })
    const all = withCpu(amd.report({ reportData: bound }))
    expect(await verifyBundle(all, under({ cpu: image }))).toMatchObject({ tier: 'A', doubts: [] })
  })

  test.each([
    ['an image', image],
    ["AMD's list", { ...policy.cpu, crl: 'required' as const }],
  ])('attack 290: a policy that names %s asks for a processor', async (_, cpu) => {
    const doubts = [{ code: 'NOT_ATTESTED', where: 'processor' }]
    expect(await verifyBundle(whole, under({ cpu }))).toMatchObject({ tier: 'B', doubts })
  })

  describe('attack 291: golden values and answers in the hand of the reader', () => {
    const judged = (brought: Partial<BundleRules>) =>
      verifyBundle(
        { ...whole, rims: [...rims, ...(brought.rims ?? [])], ocsp: [...ocsp, ...(brought.ocsp ?? [])] },
        { ...rules, ...brought },
      )
    test('that serve no card leave a doubt, and beside others that do they do not', async () => {
      const idle = makeRim(signer, { version: '9.9', golden: DRIVER_GOLDEN })
      const doubts = [{ code: 'NOT_ATTESTED', where: 'golden values' }]
      expect(await judged({ rims: [idle] })).toMatchObject({ doubts })
      expect(await judged({ rims: [idle, Buffer.from(rims[0]!)] })).toMatchObject({ doubts: [] })
      const stranger = answersFor(makeRimSigner(), 0, fresh)
      expect(await judged({ ocsp: stranger })).toMatchObject({ doubts: [{ where: 'answers about revocation' }] })
      expect(await judged({ ocsp: [...stranger, Buffer.from(ocsp[0]!)] })).toMatchObject({ doubts: [] })
    })
    test('count, whatever golden values of the same version the sender put into his file', async () => {
      const other = makeRim(signer, { version: '550.90.07', golden: VBIOS_GOLDEN })
      expect(await refusalOf(judged({ rims: [other] }))).toMatchObject({
        code: expect.stringMatching(/RIM_|MEASUREMENT_/),
      })
    })
  })

  test('attack 192: golden values and answers that serve no device cost no question about a signature', async () => {
    const stranger = makeRimSigner()
    const idle = [1, 2, 3].map((i) => makeRim(stranger, { version: `9.${i}`, golden: DRIVER_GOLDEN }))
    const said = [1, 2, 3].flatMap((i) => answersFor(stranger, 0, { thisUpdateMs: atMs - hour - i }))
    const asked = async (bundle: Bundle): Promise<number> => {
      let questions = 0
      const check: BundleRules['check'] = (...question) => {
        questions++
        return rules.check(...question)
      }
      expect(await verifyBundle(bundle, { ...rules, check })).toMatchObject({ tier: 'B', doubts: [] })
      return questions
    }
    const more = { ...whole, rims: [...idle, ...rims], ocsp: [...said, ...ocsp] }
    expect(await asked(more)).toBe(await asked(whole))
  })

  test('attack 249: a megabyte of small values is refused before anybody reads it', () => {
    const [device] = JSON.parse(new TextDecoder().decode(writeBundle(whole))).devices
    const fields = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`f${i}`, 0]))
    const read = (count: number) => readBundle(Buffer.from(JSON.stringify([{ ...device, ...fields(count) }])))
    expect(read(1000).devices).toHaveLength(1)
    expect(() => read(20_000)).toThrow(
      expect.objectContaining({ refusal: { code: 'EVIDENCE_MALFORMED', where: 'values' } }),
    )
  })

  test('says what it does not show', async () => {
    const codes = async (bundle: Bundle, by = rules) => (await verifyBundle(bundle, by)).doubts.map(({ code }) => code)
    expect(await codes({ ...whole, rims: [], ocsp: [] })).toEqual(['NO_GOLDEN_VALUES', 'NO_REVOCATION'])
    expect(await codes(whole, { ...rules, nonce: null })).toEqual(['NONCE_NOT_YOURS'])
    expect(await codes({ ...whole, ocsp: ocsp.slice(1) })).toEqual(['NO_REVOCATION'])
    const foreign = withCpu(amd.report({ reportData: bound, measurement: Buffer.alloc(48, 1) }))
    expect(await verifyBundle(foreign, rules)).toMatchObject({ tier: 'B', doubts: [{ code: 'CPU_IMAGE_UNKNOWN' }] })
    expect(await codes({ ...whole, rims: [], ocsp: [] }, under({ rim: 'ignored', ocsp: 'ignored' }))).toEqual([])
  })

  test('of a processor, lists and statements are handed in beside it', async () => {
    const intel = new TestTdx(atMs)
    const policyOf = (crl: 'required' | 'wanted'): AttestationPolicy => ({
      ...policy,
      roots: { ...policy.roots, intel: [pinOf(intel.root)] },
      cpu: { ...image, crl },
    })
    const judged = (bundle: Bundle, by: Partial<AttestationRules> = {}, crl: 'required' | 'wanted' = 'wanted') => {
      const brought = { policy: policyOf(crl), check: rules.check, nonce, atMs, rims: [], ocsp: [], ...by }
      return attestationReader(brought).checkFile(writeBundle(bundle), atMs)
    }
    const unbound = cpuReportData(nonce, new Uint8Array(0), [readReport(own.report).signed])
    const ofAmd = withCpu(amd.report({ reportData: unbound }))
    expect(await judged(ofAmd)).toMatchObject({ tier: 'A', doubts: [{ code: 'NO_REVOCATION', where: "AMD's list" }] })
    expect(await judged(ofAmd, {}, 'required')).toMatchObject({ code: 'REVOCATION_MISSING' })
    expect(await judged(ofAmd, { crl: amd.crl(atMs) }, 'required')).toMatchObject({ tier: 'A', doubts: [] })
    const revoked = { ...ofAmd, cpu: { ...ofAmd.cpu!, crl: amd.crl(atMs, [amd.holders[1]!]) } } as Bundle
    expect(await judged(revoked, { crl: amd.crl(atMs) })).toMatchObject({ code: 'CERTIFICATE_REVOKED' })
    // Attack 260: a list of the sender's own, of before the family was revoked, does not stand in for the reader's.
    const kept = { ...ofAmd, cpu: { ...ofAmd.cpu!, crl: amd.crl(atMs) } } as Bundle
    expect(await judged(kept)).toMatchObject({ tier: 'A', doubts: [] })
    const newer = { crl: amd.crl(atMs, [amd.holders[1]!]) }
    expect(await judged(kept, newer)).toMatchObject({ code: 'CERTIFICATE_REVOKED' })
    const quote = intel.quote({ reportData: unbound, newer: 'long' })
    const ofIntel: Bundle = { ...whole, cpu: { kind: 'tdx', quote, collateral: {} } }
    expect(await judged(ofIntel)).toMatchObject({ tier: 'B', cpu: null, doubts: [{ code: 'NO_COLLATERAL' }] })
    const collateral = intel.collateral()
    expect(await judged(ofIntel, { collateral })).toMatchObject({ tier: 'B', cpu: { kind: 'tdx' } })
    const keptToo: Bundle = { ...whole, cpu: { kind: 'tdx', quote, collateral } }
    expect(await judged(keptToo, { collateral })).toMatchObject({ cpu: { kind: 'tdx' } })
    const outdated = intel.collateral({ status: 'OutOfDate' })
    expect(await judged(keptToo, { collateral: outdated })).toMatchObject({ code: 'CPU_TCB_REFUSED' })
    const { tcb_info: _, ...without } = collateral
    expect(await judged(ofIntel, { collateral: without })).toMatchObject({ code: 'COLLATERAL_DIFFERS' })
  })

  test('attack 260: a reader who knows that a chip was revoked since is not told otherwise by an older answer', async () => {
    const [, device, provisioner] = gpu.holders as [never, never, never]
    const since = (status: NonNullable<OcspWishes['status']>, thisUpdateMs = atMs + 30 * 24 * hour) => ({
      ocsp: [answerFor(device, provisioner, { thisUpdateMs, status })],
    })
    const judged = (by: Partial<AttestationRules>) =>
      attestationReader({ policy, check: rules.check, nonce, atMs, rims: [], ocsp: [], ...by }).checkFile(
        writeBundle(whole),
        atMs,
      )
    expect(await judged(since('good'))).toMatchObject({ tier: 'B', doubts: [] })
    expect(await judged(since({ reason: 1 }))).toMatchObject({ code: 'CERTIFICATE_REVOKED' })
    // What was on hold before it may have been let go.
    expect(await judged(since({ reason: 6 }, atMs - 30 * 24 * hour))).toMatchObject({ tier: 'B', doubts: [] })
  })

  const [leaf, device, provisioner] = gpu.holders as [never, never, never]
  const answer = (wishes: Partial<OcspWishes>) => [answerFor(device, provisioner, { ...fresh, ...wishes })]
  const pcie = { 21: Buffer.of(0xaa), 22: Buffer.alloc(144) }
  test.each<[string, Bundle, BundleRules, Refusal['code']]>([
    ['the same chip twice', { ...whole, devices: [own, own] }, rules, 'DEVICE_TWICE'],
    ['another nonce in the file', { ...whole, devices: [{ ...own, nonce: Buffer.alloc(32) }] }, rules, 'NONCE_DIFFERS'],
    ['a nonce nobody asked', whole, { ...rules, nonce: Buffer.alloc(32, 1) }, 'NONCE_DIFFERS'],
    ['a kind the policy leaves out', whole, under({ archs: ['BLACKWELL'] }), 'ARCH_REFUSED'],
    ['an old driver', whole, under({ leastDriver: '550.90.8' }), 'DRIVER_REFUSED'],
    [
      'no golden values where they must be',
      { ...whole, rims: [] },
      under({ rim: 'required' }),
      'GOLDEN_VALUES_MISSING',
    ],
    ['no answers where they must be', { ...whole, ocsp: [] }, under({ ocsp: 'required' }), 'REVOCATION_MISSING'],
    ['an old answer', { ...whole, ocsp: answer({ thisUpdateMs: atMs - 25 * hour }) }, rules, 'OCSP_STALE'],
    ['an answer of tomorrow', { ...whole, ocsp: answer({ thisUpdateMs: atMs + hour }) }, rules, 'OCSP_STALE'],
    ['a revoked device', { ...whole, ocsp: answer({ status: { reason: 1 } }) }, rules, 'CERTIFICATE_REVOKED'],
    ['a device on hold', { ...whole, ocsp: answer({ status: { reason: 6 } }) }, rules, 'CERTIFICATE_REVOKED'],
    ['a device nobody knows', { ...whole, ocsp: answer({ status: 'unknown' }) }, rules, 'CERTIFICATE_REVOKED'],
    [
      'an answer of a responder of somebody else',
      { ...whole, ocsp: answer({ appointedBy: vendor.root }) },
      rules,
      'CHAIN_CONSTRAINT',
    ],
    [
      'an answer by whoever has any certificate',
      { ...whole, ocsp: answer({ responder: { purposes: [] } }) },
      rules,
      'CHAIN_CONSTRAINT',
    ],
    [
      'an answer of an expired responder',
      { ...whole, ocsp: answer({ responder: { notAfterMs: atMs - 1000 } }) },
      rules,
      'CHAIN_EXPIRED',
    ],
    [
      'a processor that speaks of another run',
      withCpu(amd.report({ reportData: Buffer.alloc(64) })),
      rules,
      'CPU_BINDING_DIFFERS',
    ],
    [
      'a processor for another prover',
      withCpu(amd.report({ reportData: bound })),
      { ...rules, proverKey: nonce },
      'CPU_BINDING_DIFFERS',
    ],
    [
      'two modes at once',
      { ...whole, devices: [own, evidenceOf(second, { fields: pcie })] },
      rules,
      'TOPOLOGY_DIFFERS',
    ],
    [
      'a switch nobody named',
      { ...whole, devices: [own, evidenceOf(new TestDevice(vendor, { arch: 'LS10' }), {})] },
      rules,
      'DEVICE_TWICE',
    ],
  ])('with %s is refused', async (_, bundle, by, code) => {
    expect(await refusalOf(verifyBundle(bundle, by))).toMatchObject({ code })
  })

  test('a certificate on hold counts where the policy says so, and answers may be asked for in SHA-1', async () => {
    const held = { ...whole, ocsp: answer({ status: { reason: 6 }, hash: 'sha1' }) }
    expect(await verifyBundle(held, under({ allowOnHold: true }))).toMatchObject({ tier: 'B' })
    expect(leaf).toBeDefined()
  })
})

describe('GPUs and their switches', () => {
  const reversed = (pdi: string) => Buffer.from(pdi, 'hex').reverse()
  const boards = ['5000000000000001', '5000000000000002'].map((pdi) => new TestDevice(vendor, { arch: 'LS10', pdi }))
  const cards = [gpu, second]
  const links = (named = boards) => ({
    21: Buffer.of(0xaa),
    22: Buffer.concat([...named.map(({ pdi }) => reversed(pdi)), Buffer.alloc(8 * (18 - named.length))]),
  })
  const map = (named: readonly TestDevice[]) => ({
    26: Buffer.concat([...named.map(({ pdi }) => Buffer.from(pdi, 'hex')), Buffer.alloc(128 - 8 * named.length)]),
  })
  const set = (...devices: Bundle['devices']): Bundle => ({ devices, rims: [], ocsp: [], cpu: null })
  const seen = cards.map((card) => evidenceOf(card, { fields: links() }))
  const around = boards.map((board) => evidenceOf(board, { fields: map(cards) }))

  test('that name each other are accepted', async () => {
    expect(await verifyBundle(set(...seen, ...around), rules)).toMatchObject({ tier: 'B' })
  })

  test('without any of their switches leave them open', async () => {
    expect((await verifyBundle(set(...seen), rules)).doubts).toContainEqual({ code: 'NO_SWITCHES' })
  })

  test.each<[string, Bundle]>([
    ['a switch is missing', set(...seen, around[0]!)],
    ['a GPU is missing', set(seen[0]!, ...around)],
    ['a GPU names another switch', set(evidenceOf(gpu, { fields: links([boards[0]!, gpu]) }), seen[1]!, ...around)],
    ['a switch names one GPU less', set(...seen, around[0]!, evidenceOf(boards[1]!, { fields: map([gpu]) }))],
    ['there are only switches', set(...around)],
  ])('are refused when %s', async (_, bundle) => {
    expect(await refusalOf(verifyBundle(bundle, rules))).toMatchObject({ code: 'TOPOLOGY_DIFFERS' })
  })
})

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

if (!hasFixtures) skipWith('bundles of real boxes', WHY_NOT)
else
  describe('bundles of real boxes', () => {
    const real = { policy: NVIDIA_POLICY, check: rememberingChecker(), atMs, nonce: null, proverKey: new Uint8Array(0) }

    test("the file of NVIDIA's SDK is accepted, with what it does not show", async () => {
      const checked = await verifyBundle(readBundle(fixture('attestation-sdk/hopper_evidence.json')), real)
      expect(checked).toMatchObject({ tier: 'B' })
      expect(checked.doubts.map(({ code }) => code)).toEqual([
        'NONCE_NOT_YOURS',
        'NO_SWITCHES',
        'NO_GOLDEN_VALUES',
        'NO_REVOCATION',
      ])
    })

    test('eight GPUs and four switches name each other', async () => {
      const bundle = pcieBundle()
      expect(await verifyBundle(bundle, real)).toMatchObject({ tier: 'B' })
      for (let i = 0; i < 12; i++) {
        const fewer = { ...bundle, devices: bundle.devices.filter((_, at) => at !== i) }
        expect(await refusalOf(verifyBundle(fewer, real))).toMatchObject({ code: 'TOPOLOGY_DIFFERS' })
      }
    })

    test('golden values and answers of their day leave nothing open but the nonce', async () => {
      const day = toMillis('2025-10-24T12:00:00Z')
      const go = 'go-nvattest-tools'
      const evidence = {
        arch: 'HOPPER' as const,
        report: fixture(`${go}/test_raw_gpu_attestation_report.dat`),
        chain: fixture(`${go}/test_gpu_attestation_certificate_chain.dat`),
        nonce: Buffer.from('931d8dd0add203ac3d8b4fbde75e115278eefcdceac5b87671a748f32364dfcb', 'hex'),
      }
      const answers = (names: readonly string[]) =>
        names.map((name) =>
          Buffer.from(
            fixture(`${go}/ocsp/test_gpu_${name}_base64encoded_ocsp_response.dat`).toString('latin1'),
            'base64',
          ),
        )
      const ofRims = answers(['driver_rim_l3', 'driver_rim_l4', 'rim_l2', 'vbios_l4'])
      const ofDevice = answers(['certificate_l2', 'certificate_l3', 'certificate_l4'])
      const files = [
        `${go}/rim/NV_GPU_DRIVER_GH100_550.90.07.xml`,
        `${go}/rim/NV_GPU_VBIOS_1010_0200_882_96009F0001.xml`,
      ].map(fixture)
      const bundle = { devices: [evidence], rims: files, ocsp: ofRims, cpu: null }
      const asked = { ...real, nonce: evidence.nonce, atMs: day }
      expect((await verifyBundle(bundle, asked)).doubts).toEqual([{ code: 'NO_REVOCATION', where: '3 certificates' }])
      const device = { ...bundle, rims: [], ocsp: ofDevice }
      const august = { ...asked, atMs: toMillis('2025-08-21T12:00:00Z') }
      expect((await verifyBundle(device, august)).doubts.map(({ code }) => code)).toEqual(['NO_GOLDEN_VALUES'])
      expect(await refusalOf(verifyBundle({ ...bundle, ocsp: ofDevice }, asked))).toMatchObject({ code: 'OCSP_STALE' })
    })
  })

/** The devices of a box as a Python program kept them. */
function pcieBundle(): Bundle {
  const file = JSON.parse(fixture('go-nvattest-tools/test_ppcie_data.json').toString('utf8'))
  type Kept = { readonly pem: string }[]
  const device = (arch: 'HOPPER' | 'LS10', report: string, chain: Kept) => ({
    arch,
    nonce: Buffer.from('1234567890'.repeat(7).slice(0, 64), 'hex'),
    report: Buffer.from(report, 'base64'),
    chain: Buffer.concat(chain.map(({ pem }) => Buffer.from(pem, 'base64'))),
  })
  const devices = [
    ...file.gpus.map(
      (one: {
        AttestationReport: Record<string, string>
        CertificateChains: { GpuAttestationCertificateChain: Kept }
      }) => device('HOPPER', one.AttestationReport['py/b64']!, one.CertificateChains.GpuAttestationCertificateChain),
    ),
    ...file.nvswitches.map((one: { attestation_report: Record<string, string>; attestation_cert_chain: Kept }) =>
      device('LS10', one.attestation_report['py/b64']!, one.attestation_cert_chain),
    ),
  ]
  return { devices, rims: [], ocsp: [], cpu: null }
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
