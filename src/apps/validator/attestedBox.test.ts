import { expect, test } from 'vitest'
import { smallCatalogue } from '../../../test/sim/shippedCatalogue.ts'
import { AttestingDevice, honestChip } from '../../../test/support/attest/attestingDevice.ts'
import { makeHardware } from '../../../test/support/attest/attestRun.ts'
import { rememberingChecker } from '../../../test/support/attest/flips.ts'
import { TestDevice } from '../../../test/support/attest/testNvidia.ts'
import { honestProgram, type Tampering, tampered } from '../../../test/support/inProcessBox.ts'
import { ReferenceDevice } from '../../../test/support/openReferenceDevice.ts'
import { fileOf, readerRules } from '../../../test/support/problemOf.ts'
import { verifyInProcess } from '../../../test/support/verifyInProcess.ts'
import { VirtualClock } from '../../../test/support/virtualClock.ts'
import { attestationReader } from '../../core/attest/attestationReader.ts'
import type { CpuEvidence } from '../../core/attest/bundle.ts'
import type { NvidiaEvidence } from '../../core/attest/nvidiaDevice.ts'
import type { AttestationPolicy } from '../../core/attest/policy.ts'
import { checkCertificate } from '../../core/certificate/checkCertificate.ts'
import { referenceEngine } from '../../core/proof/referenceEngine.ts'
import type { AskProcessor } from '../prover/challengeRun.ts'
import { type InTurn, takeTurns } from '../shared/takeTurns.ts'

const catalogue = await smallCatalogue()
const nowMs = new VirtualClock().wallTime().getTime()
const hardware = makeHardware(nowMs)
const chips = ['a000000000000001', 'a000000000000002'].map((pdi) => new TestDevice(hardware.vendor, { pdi }))
const readerBy = (policy: AttestationPolicy) =>
  attestationReader({
    ...{ policy, check: rememberingChecker(), nonce: null, atMs: null },
    ...{ rims: hardware.rims, ocsp: hardware.answers(chips) },
  })
const attestation = readerBy(hardware.policy)
const askingForImage = readerBy(hardware.imagePolicy)

async function run(
  signers: readonly ((nonce: Uint8Array) => NvidiaEvidence | null)[],
  reader: typeof attestation | null = attestation,
  { askProcessor, ...tampering }: Tampering & { readonly askProcessor?: AskProcessor } = {},
) {
  const devices = signers.map((sign) => new AttestingDevice(sign))
  const program = tampered(honestProgram({ devices, ...(askProcessor ? { askProcessor } : {}) }), tampering)
  const report = await verifyInProcess({ program, catalogue, ...(reader ? { attestation: reader } : {}) })
  const rules = { ...readerRules(catalogue), attestation: reader ?? attestation }
  const checked = await checkCertificate(fileOf(report.certificate), rules, () => null)
  return { report, checked }
}

test('cards that attest make a run of tier B, and its certificate holds for who reads it', async () => {
  const { report, checked } = await run(chips.map(honestChip))
  expect(report.attested).toEqual({
    tier: 'B',
    refusal: null,
    doubts: [],
    chips: chips.map(({ pdi }) => pdi),
  })
  expect(report.judgement.outcome).toBe('accepted')
  expect(checked).toMatchObject({ kind: 'certificate', problem: null, tier: 'B' })
})

const signedByProcessor = (reportData: Uint8Array): CpuEvidence => ({
  kind: 'sev-snp',
  report: hardware.amd.report({ reportData }),
  certificates: hardware.amd.certificates,
})

test('a processor whose image the operator names makes it tier A, for who reads the certificate too', async () => {
  const { report, checked } = await run(chips.map(honestChip), askingForImage, {
    askProcessor: async (data) => signedByProcessor(data),
  })
  expect(report.attested).toMatchObject({ tier: 'A', refusal: null, doubts: [] })
  expect(checked).toMatchObject({ kind: 'certificate', problem: null, tier: 'A' })
})

test('attack 290: cards alone leave a doubt to an operator who names an image', async () => {
  const { report } = await run(chips.map(honestChip), askingForImage)
  expect(report.attested).toMatchObject({
    tier: 'B',
    doubts: [{ code: 'NOT_ATTESTED', where: 'processor' }],
  })
})

test('attack 120: a processor that signed for another run is refused', async () => {
  const { report } = await run(chips.map(honestChip), askingForImage, {
    askProcessor: async () => signedByProcessor(new Uint8Array(64)),
  })
  expect(report.attested).toMatchObject({ tier: 'C', refusal: { code: 'CPU_BINDING_DIFFERS' } })
})

test('where the operator names no image, a processor of an unknown maker takes nothing from the cards', async () => {
  const { report } = await run(chips.map(honestChip), attestation, {
    askProcessor: async () => ({ kind: 'sev-snp', report: new Uint8Array(1184), certificates: [] }),
  })
  expect(report.attested).toMatchObject({ tier: 'B', refusal: null })
})

test('a card that could not sign leaves the run at tier C, and the run stands', async () => {
  const { report, checked } = await run([honestChip(chips[0]!), () => null])
  expect(report.attested).toMatchObject({ tier: 'C', refusal: null })
  expect(checked).toMatchObject({ problem: null, tier: 'C' })
})

test('attack 121: two cards that show one chip are told, and the certificate carries nothing of it', async () => {
  const { report, checked } = await run([honestChip(chips[0]!), honestChip(chips[0]!)])
  expect(report.attested).toMatchObject({ tier: 'C', refusal: { code: 'DEVICE_TWICE' } })
  expect(checked).toMatchObject({ problem: null, tier: 'C' })
})

test('attack 120: what was signed for another nonce is refused', async () => {
  const { report } = await run([() => honestChip(chips[0]!)(new Uint8Array(32))])
  expect(report.attested).toMatchObject({ tier: 'C', refusal: { code: 'NONCE_DIFFERS' } })
})

test('junk in place of evidence is refused, and the run stands', async () => {
  const junk: Tampering = {
    onAnswer: (answer, line) =>
      line.answer(answer.type === 'attested' ? { ...answer, bundle: new Uint8Array(1000).fill(0x5b) } : answer),
  }
  const { report } = await run([honestChip(chips[0]!)], attestation, junk)
  expect(report.attested).toMatchObject({ tier: 'C', refusal: { code: 'EVIDENCE_MALFORMED' } })
  expect(report.judgement.outcome).toBe('accepted')
})

test('nobody is asked by a validator that cannot judge it', async () => {
  const { report } = await run([() => expect.unreachable('asked')], null)
  expect(report.attested.tier).toBe('C')
})

test('attack 249: boxes that are done at once are judged one at a time, and the others are heard in between', async () => {
  const clock = new VirtualClock()
  const order: string[] = []
  const inTurn = takeTurns(async () => {
    order.push('heard')
    await clock.sleep(0)
  })
  const carry: typeof attestation.carry = (open, close) => {
    order.push('judged')
    return attestation.carry(open, close)
  }
  const report = () => {
    const program = honestProgram({ devices: [new AttestingDevice(honestChip(chips[0]!))] })
    return verifyInProcess({ program, catalogue, clock, inTurn, attestation: { ...attestation, carry } })
  }
  const reports = await Promise.all([report(), report(), report()])
  expect(reports.map(({ attested }) => attested.tier)).toEqual(['B', 'B', 'B'])
  expect(order).toEqual(['heard', 'judged', 'heard', 'judged', 'heard', 'judged'])
})

test('attack 428: what a box has signed is looked at in its turn, when its openings hold: that hashes every root', async () => {
  const order: string[] = []
  const engine = new Proxy(referenceEngine, {
    get: (target, name) => {
      if (order.at(-1) !== 'recomputed') order.push('recomputed')
      return Reflect.get(target, name)
    },
  })
  const inTurn: InTurn = (work) => {
    order.push('its turn')
    return work()
  }
  const program = tampered(honestProgram({ devices: [new ReferenceDevice()] }), {
    onAnswer: (answer, line) =>
      line.answer(answer.type === 'result' ? { ...answer, signature: new Uint8Array(64) } : answer),
  })
  const report = await verifyInProcess({ program, catalogue, engine, inTurn })
  expect(report.judgement.reason).toEqual({ code: 'BAD_RESULT_SIGNATURE' })
  expect(order).toEqual(['recomputed', 'its turn'])
  const checked = await checkCertificate(fileOf(report.certificate), readerRules(catalogue), () => null)
  expect(checked.problem).toMatchObject({ code: 'RUN_REJECTED', reason: { code: 'BAD_RESULT_SIGNATURE' } })
})
