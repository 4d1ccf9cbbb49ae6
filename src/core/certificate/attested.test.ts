import { describe, expect, test } from 'vitest'
import { shippedCatalogue } from '../../../test/sim/shippedCatalogue.ts'
import { attestRun, makeHardware } from '../../../test/support/attest/attestRun.ts'
import { rememberingChecker } from '../../../test/support/attest/flips.ts'
import { issue } from '../../../test/support/attest/testAuthority.ts'
import { type ReportWishes, TestDevice } from '../../../test/support/attest/testNvidia.ts'
import { answerFor } from '../../../test/support/attest/testOcsp.ts'
import { fileOf, readerRules } from '../../../test/support/problemOf.ts'
import { resigned, syntheticCertificate } from '../../../test/support/syntheticCertificate.ts'
import { attestationReader, type CarriedEvidence } from '../attest/attestationReader.ts'
import { type AttestationPolicy, NVIDIA_POLICY } from '../attest/policy.ts'
import { challengeHash, encodeChallenge } from '../proof/challenge.ts'
import { partQuery } from '../proof/verifyPart.ts'
import { toMillis } from '../units/instants.ts'
import { attestedRun } from './attestedRun.ts'
import { type CheckedEvidence, checkCertificate, type ReaderRules } from './checkCertificate.ts'
import type { Judgement } from './judgeRun.ts'
import { isProblem } from './problems.ts'
import { readCertificate } from './readEvidence.ts'

const atMs = toMillis('2026-01-01T00:00:00Z')
const catalogue = await shippedCatalogue()
const hardware = makeHardware(atMs)
const [first, second, third] = ['1000000000000001', '1000000000000002', '1000000000000003'].map(
  (pdi) => new TestDevice(hardware.vendor, { pdi }),
) as [TestDevice, TestDevice, TestDevice]

const h200 = syntheticCertificate({ catalogue, id: 'h200-sxm', issuedMs: atMs })

/** What a certificate says of its run, for whoever attests to it. */
function runOf(text: string) {
  const read = readCertificate(text, () => true)
  if (isProblem(read)) throw new Error(read.code)
  const { challenge, parts } = read.run
  return {
    x: challengeHash(encodeChallenge(challenge)),
    queries: parts.map((_, p) => partQuery(read.run, p)),
    proverKey: challenge.proverKey,
  }
}

const attested = (carried: CarriedEvidence, text = h200) =>
  resigned(text, (predicate) => {
    predicate.attestation = carried
  })

const check = rememberingChecker()
const readerBy = (policy: AttestationPolicy) =>
  attestationReader({ policy, check, nonce: null, atMs: null, rims: [], ocsp: [] })
const reader = readerBy(hardware.policy)

function checked(text: string, attestation: ReaderRules['attestation'] | null = reader): Promise<CheckedEvidence> {
  const rules: ReaderRules = {
    ...readerRules(catalogue),
    nowMs: atMs + 3_600_000,
    ...(attestation ? { attestation } : {}),
  }
  return checkCertificate(fileOf(text), rules, () => null)
}

describe('a certificate with attestation', () => {
  const run = runOf(h200)
  const bound = { ...run, gpus: 2, chips: [], atMs }

  test('is of tier B with its GPUs, of tier A with the machine around them, of tier C without', async () => {
    const one = [first]
    expect(await checked(attested(attestRun(run, hardware, one)))).toMatchObject({
      tier: 'B',
      problem: null,
      doubts: [],
    })
    const imageReader = readerBy(hardware.imagePolicy)
    const withCpu = attested(attestRun(run, hardware, one, { cpu: true }))
    expect(await checked(withCpu, imageReader)).toMatchObject({ tier: 'A', doubts: [] })
    // Attack 290.
    expect(await checked(attested(attestRun(run, hardware, one)), imageReader)).toMatchObject({
      tier: 'B',
      doubts: [{ code: 'NOT_ATTESTED', where: 'processor' }],
    })
    expect(await checked(h200)).toMatchObject({ tier: 'C', problem: null })
  })

  test('is said to be unchecked by who brings no cryptography, or does not know the format', async () => {
    const carried = attestRun(run, hardware, [first])
    expect(await checked(attested(carried), null)).toMatchObject({ tier: null, problem: null })
    expect(await reader.checkRun({ ...carried, format: 'other-1' }, bound)).toBeNull()
  })

  const otherRun = { ...run, x: new Uint8Array(32) }
  const otherEnd = { ...run, queries: run.queries.toSpliced(0, 1, new Uint8Array(32)) }
  const earlier = attestRun(run, hardware, [first, third])
  const honest = attestRun(run, hardware, [first, second])
  test.each<[string, CarriedEvidence, object]>([
    ['attack 120: evidence of another run', attestRun(otherRun, hardware, [first, second]), { code: 'NONCE_DIFFERS' }],
    [
      'attack 120: evidence made before the work was done',
      attestRun(otherEnd, hardware, [first, second]),
      { code: 'NONCE_DIFFERS' },
    ],
    ['attack 120: the first report of others', { ...honest, open: earlier.open }, { code: 'NONCE_DIFFERS' }],
    ['attack 121: one chip for two devices', attestRun(run, hardware, [first, first]), { code: 'DEVICE_TWICE' }],
    [
      'attack 121: one chip fewer than devices',
      attestRun(run, hardware, [first]),
      { code: 'OTHER_DEVICES', got: 1, expected: 2 },
    ],
    [
      'attack 121: one chip more than devices',
      attestRun(run, hardware, [first, second, third]),
      { code: 'OTHER_DEVICES' },
    ],
    [
      'attack 121: another chip after the run',
      attestRun(run, hardware, [first, second], { before: [first, third] }),
      { code: 'OTHER_DEVICES' },
    ],
    ['no report before the run', { ...honest, open: [''] }, { code: 'EVIDENCE_MALFORMED' }],
    [
      'two bundles where one belongs',
      { ...honest, open: [...honest.open, ...honest.open] },
      { code: 'EVIDENCE_MALFORMED' },
    ],
  ])('%s is refused', async (_, carried, refusal) => {
    expect(await reader.checkRun(carried, bound)).toMatchObject(refusal)
  })

  test('attack 122: chips of another family than did the work are refused', async () => {
    const others = [new TestDevice(hardware.vendor, { arch: 'BLACKWELL', pdi: '2000000000000001' })]
    expect(await checked(attested(attestRun(run, hardware, others)))).toMatchObject({
      problem: { code: 'ATTESTATION_REFUSED', refusal: { code: 'OTHER_CHIP', got: 'GB100', expected: 'GH100' } },
    })
  })

  describe('attack 388: the first of two bundles is judged as the second is', () => {
    const unknown = { fields: { 3: new TextEncoder().encode('535.00.66\0') } }
    const leaked = issue({ name: 'Test Provisioner ICA 0', ca: true }, hardware.vendor.family)
    const forged = new TestDevice({ ...hardware.vendor, provisioner: leaked }, { pdi: first.pdi })
    const revoked = answerFor(leaked, hardware.vendor.family, { thisUpdateMs: atMs - 3_600_000, status: { reason: 1 } })
    const by = (before: TestDevice, wishes: ReportWishes = {}, ocsp: readonly Uint8Array[] = []) =>
      checked(
        attested(attestRun(run, hardware, [first], { before: [before], first: wishes })),
        attestationReader({ policy: hardware.policy, check, nonce: null, atMs: null, rims: [], ocsp }),
      )

    test('a driver without golden values leaves a doubt', async () => {
      expect(await by(first, unknown)).toMatchObject({ problem: null, doubts: [{ code: 'NO_GOLDEN_VALUES' }] })
    })

    test('cards in protected PCIe without their switches leave a doubt', async () => {
      const alone = { fields: { 21: Uint8Array.of(0xaa) } }
      expect(await by(first, alone)).toMatchObject({ problem: null, doubts: [{ code: 'NO_SWITCHES' }] })
    })

    test('a chain that was revoked is refused, and one that nobody answers for is doubted', async () => {
      expect(await by(forged, {}, [revoked])).toMatchObject({ problem: { refusal: { code: 'CERTIFICATE_REVOKED' } } })
      expect(await by(forged)).toMatchObject({ problem: null, doubts: [{ code: 'NO_REVOCATION' }] })
    })

    test('another kind of chip under the same number is refused', async () => {
      const other = new TestDevice(hardware.vendor, { arch: 'BLACKWELL', pdi: first.pdi })
      expect(await by(other)).toMatchObject({ problem: { refusal: { code: 'OTHER_DEVICES' } } })
    })
  })

  test('attack 385: a right chip attests for one device, not for another beside it', async () => {
    const two = syntheticCertificate({ catalogue, id: 'h200-sxm', devices: 2, issuedMs: atMs })
    const other = new TestDevice(hardware.vendor, { arch: 'BLACKWELL', pdi: '2000000000000001' })
    const by = (chips: TestDevice[]) => checked(attested(attestRun(runOf(two), hardware, chips), two))
    expect(await by([first, second])).toMatchObject({ problem: null, tier: 'B' })
    for (const chips of [
      [first, other],
      [other, first],
    ])
      expect(await by(chips)).toMatchObject({ problem: { refusal: { code: 'OTHER_CHIP', expected: 'GH100' } } })
  })

  test('attack 392: where a claim matches it is the claimed card that attests, whatever else the rates resemble', async () => {
    const read = readCertificate(h200, () => true)
    if (isProblem(read)) throw new Error(read.code)
    const { judgement } = read.statement.predicate
    const soldAs = (text: string) => {
      const claimed = { ...judgement, claim: { text, verdict: 'matches', reasons: [] } } as unknown as Judgement
      const judged = { run: read.run, deviceClasses: ['gpu'] as const, atMs, judgement: claimed }
      return attestedRun(attestRun(run, hardware, [first]), judged, reader, catalogue)
    }
    expect(await soldAs('H200 SXM')).toMatchObject({ tier: 'B', refusal: null })
    const refusal = { code: 'OTHER_CHIP', got: 'GH100', expected: 'GA100' }
    expect(await soldAs('A100 SXM4 80GB')).toMatchObject({ tier: 'C', refusal })
  })

  test('attack 413: a chip that no card was found for leaves a doubt', async () => {
    const read = readCertificate(h200, () => true)
    if (isProblem(read)) throw new Error(read.code)
    const { judgement } = read.statement.predicate
    const identified = (status: 'unknown' | 'cpu') => {
      const identity = { ...judgement.devices[0]!.identity, status, model: null, cards: [] }
      const other = { ...judgement, claim: null, devices: [{ ...judgement.devices[0]!, identity }] }
      const judged = { run: read.run, deviceClasses: ['gpu'] as const, atMs, judgement: other as unknown as Judgement }
      return attestedRun(attestRun(run, hardware, [first]), judged, reader, catalogue)
    }
    expect(await identified('unknown')).toMatchObject({ tier: 'B', doubts: [{ code: 'CHIP_NOT_COMPARED' }] })
    expect(await identified('cpu')).toMatchObject({ tier: 'B', doubts: [] })
  })

  test("attack 123: a made-up vendor's evidence is refused by whoever pins NVIDIA's root", async () => {
    expect(await readerBy(NVIDIA_POLICY).checkRun(honest, bound)).toMatchObject({ code: 'UNKNOWN_ROOT' })
  })
})
