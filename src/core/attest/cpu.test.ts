import { Buffer } from 'node:buffer'
import { describe, expect, test } from 'vitest'
import { bitsIn, snpEvidence, tdxEvidence, unnoticed } from '../../../test/support/attest/cpuFlips.ts'
import { flipped, rememberingChecker } from '../../../test/support/attest/flips.ts'
import { refusalOf } from '../../../test/support/attest/refusalOf.ts'
import { type Holder, pinOf } from '../../../test/support/attest/testAuthority.ts'
import { digest } from '../../../test/support/attest/testNvidia.ts'
import { type SnpWishes, TestSnp } from '../../../test/support/attest/testSnp.ts'
import { type CollateralWishes, TestTdx } from '../../../test/support/attest/testTdx.ts'
import { fixture, hasFixtures, WHY_NOT } from '../../../test/support/attest/vendorFixtures.ts'
import { skipWith } from '../../../test/support/skipWith.ts'
import { checkVendorSignature } from '../../drivers/system/checkVendorSignature.ts'
import { toHex } from '../bytes/hex.ts'
import { toMillis } from '../units/instants.ts'
import { readPem } from './pem.ts'
import { NVIDIA_POLICY } from './policy.ts'
import type { Refusal } from './refusals.ts'
import { verifySnp } from './snp.ts'
import { verifyTdx } from './tdx.ts'

const atMs = toMillis('2026-11-15T00:00:00Z')
const reportData = Buffer.alloc(64, 9)

const someBits = (evidence: Parameters<typeof bitsIn>[0], count = 2000): number[] =>
  Array.from({ length: count }, () => Math.floor(Math.random() * bitsIn(evidence)))

/** Every so many bits: a whole sweep belongs to the long tests. */
const bitsOf = (bytes: Uint8Array, every: number) =>
  Array.from({ length: Math.ceil((8 * bytes.length) / every) }, (_, i) =>
    Math.min(i * every + (i % 8), 8 * bytes.length - 1),
  )

describe('AMD SEV-SNP', () => {
  const amd = new TestSnp()
  const rules = { atMs, roots: [pinOf(amd.holders[2]!)], check: rememberingChecker() }
  const verify = (wishes: Partial<SnpWishes> = {}, certificates = amd.certificates) =>
    verifySnp({ report: amd.report({ reportData, ...wishes }), certificates }, rules)

  test('a report says which image runs and what it had signed', async () => {
    expect(await verify()).toEqual({ kind: 'sev-snp', measurement: toHex(digest('image')), reportData })
  })

  const other = new TestSnp()
  const [chip, family, root] = amd.certificates as [Buffer, Buffer, Buffer]
  test.each<[string, () => Promise<unknown>, Refusal['code']]>([
    ['in debug mode', () => verify({ debug: true }), 'CPU_DEBUG'],
    ['of a guest that an agent may move (attack 389)', () => verify({ movable: true }), 'CPU_DEBUG'],
    ['asked for from below what is measured (attack 393)', () => verify({ privilege: 2 }), 'CPU_PRIVILEGE'],
    ...[0x04, 0x10, 0x2f, 0xc0, 0xe0, 0x13f].map(
      (hostDataAt) =>
        [
          `with a byte of the host at ${hostDataAt} (attacks 412, 418)`,
          () => verify({ hostDataAt }),
          'CPU_HOST_DATA',
        ] as [string, () => Promise<unknown>, Refusal['code']],
    ),
    ['of another chip than certified', () => verify({ chipId: Buffer.alloc(64, 1) }), 'DEVICE_KEY_DIFFERS'],
    ['of other firmware than certified', () => verify({ level: 1 }), 'FWID_DIFFERS'],
    ['under another root', () => verify({}, other.certificates), 'UNKNOWN_ROOT'],
    ['with two certificates', () => verify({}, [chip, root]), 'CHAIN_LENGTH'],
    ['with certificates out of order', () => verify({}, [chip, root, family]), 'CHAIN_BROKEN'],
    [
      'cut short',
      () => verifySnp({ report: Buffer.alloc(1183), certificates: amd.certificates }, rules),
      'EVIDENCE_MALFORMED',
    ],
    [
      "under AMD's root",
      () =>
        verifySnp(
          { report: amd.report({ reportData }), certificates: amd.certificates },
          { ...rules, roots: NVIDIA_POLICY.roots.amd },
        ),
      'UNKNOWN_ROOT',
    ],
  ])('a report %s is refused', async (_, work, code) => {
    expect(await refusalOf(work())).toMatchObject({ code })
  })

  test('attack 394: firmware below the least level that a policy names is refused, part by part', async () => {
    const own = { bootLoader: 3, tee: 0, snp: 8, microcode: 115 }
    const evidence = { report: amd.report({ reportData }), certificates: amd.certificates }
    expect(await verifySnp(evidence, { ...rules, least: own })).toMatchObject({ kind: 'sev-snp' })
    for (const [part, level] of Object.entries(own)) {
      const asked = verifySnp(evidence, { ...rules, least: { ...own, [part]: level + 1 } })
      expect(await refusalOf(asked)).toMatchObject({ code: 'CPU_TCB_REFUSED', where: part })
    }
    // Attack 411: what runs now, what the host may go back to, and what the guest was started under.
    for (const at of [0x38, 0x1e0, 0x1f0]) {
      const report = amd.report({ reportData, levelsAt: { [at]: 0 } })
      expect(await verifySnp({ ...evidence, report }, rules)).toMatchObject({ kind: 'sev-snp' })
      const asked = verifySnp({ ...evidence, report }, { ...rules, least: own })
      expect(await refusalOf(asked)).toMatchObject({ code: 'CPU_TCB_REFUSED' })
    }
  })

  test('a family that is in the list of its vendor is refused, and a list that is not of that vendor or time', async () => {
    const listed = (crl: Uint8Array) =>
      verifySnp({ report: amd.report({ reportData }), certificates: amd.certificates, crl }, rules)
    expect(await listed(amd.crl(atMs))).toMatchObject({ kind: 'sev-snp' })
    const [ownChip, ownFamily] = amd.holders as [Holder, Holder]
    expect(await listed(amd.crl(atMs, [ownChip]))).toMatchObject({ kind: 'sev-snp' })
    expect(await refusalOf(listed(amd.crl(atMs, [ownFamily])))).toMatchObject({ code: 'CERTIFICATE_REVOKED' })
    expect(await refusalOf(listed(amd.crl(atMs - 60 * 86_400_000)))).toMatchObject({ code: 'COLLATERAL_DIFFERS' })
    expect(await refusalOf(listed(other.crl(atMs)))).toMatchObject({ code: 'CHAIN_BROKEN' })
  })

  test('2,000 random flipped bits of report, chain and list are refused', async () => {
    const evidence = snpEvidence(atMs)
    expect(await unnoticed(evidence, someBits(evidence))).toEqual([])
  })
})

describe('Intel TDX', () => {
  const intel = new TestTdx(atMs)
  const quote = intel.quote({ reportData })
  const rules = { atMs, roots: [pinOf(intel.root)], check: rememberingChecker(), allowed: ['UpToDate'] }
  const verify = (wishes: CollateralWishes = {}, bytes: Uint8Array = quote) =>
    verifyTdx({ quote: bytes, collateral: intel.collateral(wishes) }, rules)

  test('a quote says which image runs and what it had signed', async () => {
    const found = await verify()
    expect(found).toMatchObject({ kind: 'tdx' })
    expect(Buffer.from(found.reportData)).toEqual(reportData)
    expect(await verify({}, Buffer.concat([quote, Buffer.alloc(70)]))).toEqual(found)
  })

  const { tcb_info: _, ...without } = intel.collateral()
  const forged = {
    ...intel.collateral(),
    qe_identity: intel.collateral().qe_identity!.replace('"isvprodid":2', '"isvprodid":3'),
  }
  test.each<[string, () => Promise<unknown>, Refusal['code']]>([
    ['of a debug domain', () => verify({}, intel.quote({ reportData, debug: true })), 'CPU_DEBUG'],
    [
      'of a domain that may be moved (attack 389)',
      () => verify({}, intel.quote({ reportData, movable: true })),
      'CPU_DEBUG',
    ],
    [
      'of version 5 with the short body, of a domain that may be moved (attack 389)',
      () => verify({}, intel.quote({ reportData, movable: true, newer: 'short' })),
      'CPU_DEBUG',
    ],
    ...[
      ['a host that may take its pages away', [0, 0, 0, 0, 0, 0, 0, 0]],
      ['attributes that nobody knows', [0, 0xff, 0xff, 0xdf, 0, 0, 0, 0]],
      ['attributes of the last bytes', [0, 0, 0, 0x10, 0, 0, 0, 0x80]],
    ].map(
      ([name, attributes]) =>
        [
          `of a domain with ${name} (attack 399)`,
          () => verify({}, intel.quote({ reportData, attributes: attributes as number[] })),
          'CPU_DEBUG',
        ] as [string, () => Promise<unknown>, Refusal['code']],
    ),
    ...[184, 232, 327].map(
      (hostDataAt) =>
        [
          `with a byte of the host at ${hostDataAt} (attack 412)`,
          () => verify({}, intel.quote({ reportData, hostDataAt })),
          'CPU_HOST_DATA',
        ] as [string, () => Promise<unknown>, Refusal['code']],
    ),
    ['of a processor that was revoked', () => verify({ revoked: [intel.processor] }), 'CERTIFICATE_REVOKED'],
    ['of a family whose authority was revoked', () => verify({ revoked: [intel.authority] }), 'CERTIFICATE_REVOKED'],
    ['with statements of a revoked signer', () => verify({ revoked: [intel.signing] }), 'CERTIFICATE_REVOKED'],
    ['of a state not allowed', () => verify({ status: 'OutOfDate' }), 'CPU_TCB_REFUSED'],
    ['of an enclave too old', () => verify({ enclaveSvn: 5 }), 'CPU_TCB_REFUSED'],
    ['of another family', () => verify({ fmspc: '000000000000' }), 'COLLATERAL_DIFFERS'],
    ['with statements of another time', () => verify({ atMs: atMs - 60 * 86_400_000 }), 'COLLATERAL_DIFFERS'],
    ['without statements', () => verifyTdx({ quote, collateral: without }, rules), 'COLLATERAL_DIFFERS'],
    ['with forged statements', () => verifyTdx({ quote, collateral: forged }, rules), 'CHAIN_BROKEN'],
    ['with bytes after it', () => verify({}, Buffer.concat([quote, Buffer.of(1)])), 'EVIDENCE_MALFORMED'],
    ['cut short', () => verify({}, quote.subarray(0, -1)), 'EVIDENCE_MALFORMED'],
    [
      "under Intel's root",
      () => verifyTdx({ quote, collateral: intel.collateral() }, { ...rules, roots: NVIDIA_POLICY.roots.intel }),
      'UNKNOWN_ROOT',
    ],
  ])('a quote %s is refused', async (_, work, code) => {
    expect(await refusalOf(work())).toMatchObject({ code })
  })

  test.each(['short', 'long'] as const)('a quote of version 5 with the %s body says the same', async (newer) => {
    const found = await verify()
    expect(await verify({}, intel.quote({ reportData, newer }))).toEqual(found)
  })

  test('a quote of version 5 whose body is of another kind or length, or whose domain another one serves, is refused', async () => {
    const served = verify({}, intel.quote({ reportData, newer: 'served' }))
    expect(await refusalOf(served)).toMatchObject({ code: 'CPU_DEBUG' })
    const long = intel.quote({ reportData, newer: 'long' })
    for (const [at, value] of [
      [0, 6],
      [48, 1],
      [48, 2],
      [50, 0x48],
    ] as const) {
      const changed = Buffer.from(long)
      changed[at] = value
      expect(await refusalOf(verify({}, changed))).toMatchObject({ code: 'EVIDENCE_MALFORMED' })
    }
  })

  test.each([
    ['4', undefined],
    ['5', 'long'],
  ] as const)(
    '1,000 random flipped bits of a quote of version %s and of its collateral are refused',
    async (_, newer) => {
      const evidence = tdxEvidence(atMs, newer)
      expect(await unnoticed(evidence, someBits(evidence, 1000))).toEqual([])
    },
  )
})

if (!hasFixtures) skipWith('reports of real processors', WHY_NOT)
else
  describe('reports of real processors', () => {
    const check = checkVendorSignature

    test('the report of a Milan is its own, though in debug mode; with a flipped bit it is not', async () => {
      const report = fixture('go-sev-guest/attestation.bin')
      const chain = readPem(Buffer.from(fixture('go-sev-guest/milan.testcer').toString('latin1').trimStart()), 2)
      const certificates = [fixture('go-sev-guest/vcek.testcer'), ...chain]
      const rules = { atMs, roots: NVIDIA_POLICY.roots.amd, check: rememberingChecker() }
      const codeOf = async (bytes: Uint8Array) =>
        (await refusalOf(verifySnp({ report: bytes, certificates }, rules)))?.code
      // Asked last: chain, signature, chip and firmware hold.
      expect(await codeOf(report)).toBe('CPU_DEBUG')
      for (const bit of bitsOf(report, 24)) expect(await codeOf(flipped(report, bit))).not.toBe('CPU_DEBUG')
    })

    test('a TDX quote is accepted at its time, and its collateral is stale today', async () => {
      const quote = fixture('dcap-qvl/tdx_quote')
      const collateral = JSON.parse(fixture('dcap-qvl/tdx_quote_collateral.json').toString('utf8'))
      const rules = {
        atMs: toMillis('2025-06-19T11:16:00Z'),
        roots: NVIDIA_POLICY.roots.intel,
        check,
        allowed: ['UpToDate'],
      }
      expect(await verifyTdx({ quote, collateral }, rules)).toMatchObject({ kind: 'tdx' })
      expect(await refusalOf(verifyTdx({ quote, collateral }, { ...rules, atMs }))).toMatchObject({
        code: 'COLLATERAL_DIFFERS',
      })
    })
  })
