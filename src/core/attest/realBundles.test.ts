import { Buffer } from 'node:buffer'
import { describe, expect, test } from 'vitest'
import { rememberingChecker } from '../../../test/support/attest/flips.ts'
import { refusalOf } from '../../../test/support/attest/refusalOf.ts'
import { fixture, hasFixtures, WHY_NOT } from '../../../test/support/attest/vendorFixtures.ts'
import { skipWith } from '../../../test/support/skipWith.ts'
import { toMillis } from '../units/instants.ts'
import { type Bundle, readBundle } from './bundle.ts'
import { verifyBundle } from './checkBundle.ts'
import { NVIDIA_POLICY } from './policy.ts'

if (!hasFixtures) skipWith('bundles of real boxes', WHY_NOT)
else
  describe('bundles of real boxes', () => {
    const atMs = toMillis('2026-11-15T12:00:00Z')
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
