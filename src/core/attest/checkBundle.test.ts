import { Buffer } from 'node:buffer'
import { describe, expect, test } from 'vitest'
import { bundleOf, makeHardware } from '../../../test/support/attest/attestRun.ts'
import { rememberingChecker } from '../../../test/support/attest/flips.ts'
import { refusalOf } from '../../../test/support/attest/refusalOf.ts'
import { pinOf } from '../../../test/support/attest/testAuthority.ts'
import { type ReportWishes, TestDevice } from '../../../test/support/attest/testNvidia.ts'
import { answerFor, answersFor, type OcspWishes } from '../../../test/support/attest/testOcsp.ts'
import { DRIVER_GOLDEN, makeRim, makeRimSigner, VBIOS_GOLDEN } from '../../../test/support/attest/testRim.ts'
import { TestTdx } from '../../../test/support/attest/testTdx.ts'
import { toMillis } from '../units/instants.ts'
import { type AttestationRules, attestationReader, CARRIED_FORMAT } from './attestationReader.ts'
import { cpuReportData } from './binding.ts'
import { type Bundle, writeBundle } from './bundle.ts'
import { type BundleRules, verifyBundle } from './checkBundle.ts'
import type { AttestationPolicy } from './policy.ts'
import type { Refusal } from './refusals.ts'
import { readReport } from './spdm.ts'

const atMs = toMillis('2026-11-15T12:00:00Z')
const hour = 3_600_000
const nonce = Buffer.alloc(32, 0xab)
const proverKey = Buffer.alloc(32, 5)
const { vendor, signer, amd, rims, policy, imagePolicy, answers } = makeHardware(atMs)
const image = imagePolicy.cpu
const gpu = new TestDevice(vendor)
const second = new TestDevice(vendor, { pdi: '1122334455667788' })
const fresh: OcspWishes = { thisUpdateMs: atMs - hour }
const ocsp = answers([gpu])
const rules: BundleRules = { policy, check: rememberingChecker(), atMs, nonce, proverKey }
const whole = bundleOf([gpu], nonce, { rims, ocsp })
const [own] = whole.devices as [Bundle['devices'][number]]
const evidenceOf = (device: TestDevice, wishes: ReportWishes) => ({ ...device.evidence(nonce, wishes), nonce })
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
    ['least levels (attack 394)', { ...policy.cpu, leastSnp: { bootLoader: 0, tee: 0, snp: 0, microcode: 0 } }],
  ])('attack 290: a policy that names %s asks for a processor', async (_, cpu) => {
    const doubts = [{ code: 'NOT_ATTESTED', where: 'processor' }]
    expect(await verifyBundle(whole, under({ cpu }))).toMatchObject({ tier: 'B', doubts })
  })

  test('attack 282: a reader whose policy hears nothing of what he brings is told so', () => {
    const given = {
      policy: { ...policy, rim: 'ignored' as const },
      check: rules.check,
      nonce: null,
      atMs: null,
      ocsp: [],
    }
    expect(() => attestationReader({ ...given, rims })).toThrow('the policy ignores what is handed in')
    expect(() => attestationReader({ ...given, rims: [] })).not.toThrow()
  })

  test('attack 424: a reader without a nonce or a time, where neither is null, is told so', async () => {
    const given = { policy, check: rules.check, nonce: null, atMs: null, rims: [], ocsp: [] }
    for (const wrong of [
      { nonce: undefined },
      { nonce: new Uint8Array(31) },
      { atMs: Number.NaN },
      { atMs: undefined },
    ])
      expect(() => attestationReader({ ...given, ...wrong } as AttestationRules)).toThrow(RangeError)
    await expect(attestationReader(given).checkFile(writeBundle(whole), Number.NaN)).rejects.toThrow(RangeError)
  })

  test('attack 426: a policy that is none is told, and so is a run without a time', async () => {
    const given = { policy, check: rules.check, nonce: null, atMs: null, rims: [], ocsp: [] }
    for (const wrong of [
      { clockSkewSeconds: Number.NaN },
      { ocspMaxAgeSeconds: undefined },
      { cpu: { ...policy.cpu, leastSnp: { bootLoader: 255 } } },
    ])
      expect(() => attestationReader({ ...given, policy: { ...policy, ...wrong } as AttestationPolicy })).toThrow(
        'the policy is none',
      )
    for (const answer of [1, -1, 'invalid', { valid: false }]) {
      const check = (() => answer) as never
      expect(await attestationReader({ ...given, check }).checkFile(writeBundle(whole), rules.atMs)).toHaveProperty(
        'code',
      )
    }
    const key = new Uint8Array(32)
    const run = { x: key, queries: [], proverKey: key, gpus: 1, chips: [[]], atMs: Number.NaN }
    const carried = { format: CARRIED_FORMAT, open: [], close: [] }
    await expect(attestationReader(given).checkRun(carried, run)).rejects.toThrow(RangeError)
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
    // Attack 390: nor by a newer one.
    expect(await judged(since({ reason: 1 }, atMs - 30 * 24 * hour))).toMatchObject({ code: 'CERTIFICATE_REVOKED' })
    // What was on hold before it may have been let go.
    expect(await judged(since({ reason: 6 }, atMs - 30 * 24 * hour))).toMatchObject({ tier: 'B', doubts: [] })
  })

  const [, device, provisioner] = gpu.holders as [never, never, never]
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
      { ...whole, devices: [own, evidenceOf(new TestDevice(vendor, { arch: 'LS10', pdi: '5000000000000001' }), {})] },
      rules,
      'TOPOLOGY_DIFFERS',
    ],
  ])('with %s is refused', async (_, bundle, by, code) => {
    expect(await refusalOf(verifyBundle(bundle, by))).toMatchObject({ code })
  })

  test('a certificate on hold counts where the policy says so, and answers may be asked for in SHA-1', async () => {
    const held = { ...whole, ocsp: answer({ status: { reason: 6 }, hash: 'sha1' }) }
    expect(await verifyBundle(held, under({ allowOnHold: true }))).toMatchObject({ tier: 'B' })
  })
})
