import { equalBytes } from '../bytes/bytes.ts'
import { toHex } from '../bytes/hex.ts'
import { cpuReportData } from './binding.ts'
import type { Bundle, CpuEvidence } from './bundle.ts'
import type { ChainRules } from './chain.ts'
import type { AttestDoubt } from './doubts.ts'
import { type Brought, verifyMeasurements } from './measurements.ts'
import { type NvidiaDevice, verifyNvidiaDevice } from './nvidiaDevice.ts'
import { isAboutOne, type OcspAnswer, type OcspRules, readOcsp, unansweredIn } from './ocsp.ts'
import type { AttestationPolicy } from './policy.ts'
import { refuse } from './refusals.ts'
import { type Rim, readRim } from './rim.ts'
import type { SignatureChecker } from './signatureChecker.ts'
import { type CpuReport, verifySnp } from './snp.ts'
import { verifyTdx } from './tdx.ts'
import { verifyTopology } from './topology.ts'

/** A: the machine around the cards attests too; B: the cards alone; C: nothing but performance was shown. */
export type Tier = 'A' | 'B' | 'C'

export interface BundleRules {
  readonly policy: AttestationPolicy
  readonly check: SignatureChecker
  /** When the evidence was made, as far as the reader knows. */
  readonly atMs: number
  /** What the verifier asked; null takes the word of the file, and says so. */
  readonly nonce: Uint8Array | null
  /** Whose run it is; empty outside of a run. */
  readonly proverKey: Uint8Array
  /** Those of the bundle's golden values and answers that the reader himself brings. */
  readonly rims?: readonly Uint8Array[]
  readonly ocsp?: readonly Uint8Array[]
  /** What he brings for processors: it must hold too, whatever the bundle brings (attack 260). */
  readonly crl?: Uint8Array | null
  readonly collateral?: Readonly<Record<string, string>>
}

export interface CheckedBundle {
  readonly tier: Exclude<Tier, 'C'>
  readonly devices: readonly NvidiaDevice[]
  readonly cpu: CpuReport | null
  readonly doubts: readonly AttestDoubt[]
}

/** Everything that can be said of a bundle offline; throws `Refused` at the first thing that does not hold. */
export async function verifyBundle(bundle: Bundle, rules: BundleRules): Promise<CheckedBundle> {
  const { policy, atMs, check } = rules
  const nonce = rules.nonce ?? bundle.devices[0]!.nonce
  const chainRules = (roots: readonly string[]): ChainRules => ({ atMs, check, roots })
  const devices: NvidiaDevice[] = []
  for (const evidence of bundle.devices) {
    if (!policy.archs.includes(evidence.arch)) refuse('ARCH_REFUSED', { got: evidence.arch })
    if (!equalBytes(evidence.nonce, nonce))
      refuse('NONCE_DIFFERS', { where: 'file', got: toHex(evidence.nonce), expected: toHex(nonce) })
    devices.push(await verifyNvidiaDevice(evidence, nonce, chainRules(policy.roots.device)))
  }
  if (devices.every(({ arch }) => arch === 'LS10')) refuse('TOPOLOGY_DIFFERS', { where: 'GPUs', got: 0 })
  const { switchesMissing } = verifyTopology(devices)
  for (const device of devices) ensureDriver(device, policy)
  const rims = policy.rim === 'ignored' ? [] : bundle.rims.map(readerTelling(readRim, rules.rims))
  const answers = policy.ocsp === 'ignored' ? [] : bundle.ocsp.map(readerTelling(readOcsp, rules.ocsp))
  const isMute = bundle.cpu?.kind === 'tdx' && isEmpty(bundle.cpu.collateral)
  const cpu = isMute ? null : await verifyCpu(bundle.cpu, devices, nonce, rules)
  const known = cpu !== null && policy.cpu.measurements.includes(cpu.measurement)
  const golden = await goldenDoubts(devices, rims, chainRules(policy.roots.rim), policy)
  const doubts: AttestDoubt[] = [
    ...(rules.nonce === null ? [{ code: 'NONCE_NOT_YOURS' } as const] : []),
    ...(switchesMissing ? [{ code: 'NO_SWITCHES' } as const] : []),
    ...golden.doubts,
    ...(await revocationDoubts(devices, golden.used, answers, rules)),
    ...(isMute ? [{ code: 'NO_COLLATERAL' } as const] : []),
    ...listDoubts(bundle.cpu, policy),
    ...idleDoubts(bundle.cpu, rules),
    ...(cpu === null || known ? [] : [{ code: 'CPU_IMAGE_UNKNOWN', where: cpu.measurement } as const]),
  ]
  return { tier: known ? 'A' : 'B', devices, cpu, doubts }
}

/** Reads, and tells of each whether the reader himself brought it. */
const readerTelling =
  <T>(read: (bytes: Uint8Array) => T, own: readonly Uint8Array[] = []) =>
  (bytes: Uint8Array): Brought<T> => ({ ...read(bytes), isReaders: own.includes(bytes) })

/** Nothing of what a reader brings is of use: it looked at nothing (attack 291). */
const isIdle = <T>(all: readonly Brought<T>[], isUsed: (one: Brought<T>) => boolean): boolean => {
  const own = all.filter(({ isReaders }) => isReaders)
  return own.length > 0 && !own.some(isUsed)
}

async function goldenDoubts(
  devices: readonly NvidiaDevice[],
  rims: readonly Brought<Rim>[],
  rules: ChainRules,
  { rim: wanted }: AttestationPolicy,
): Promise<{ readonly doubts: readonly AttestDoubt[]; readonly used: ReadonlySet<Rim> }> {
  // Files that serve no device are anybody's: nothing more is asked about them (attack 192).
  const used = new Set<Rim>()
  const doubts: AttestDoubt[] = []
  if (wanted === 'ignored') return { doubts, used }
  for (const device of devices) {
    const measured = await verifyMeasurements(device, rims, rules)
    for (const rim of measured.used) used.add(rim)
    const { missing } = measured
    const where = `${missing} of ${device.pdi}`
    if (missing && wanted === 'required') refuse('GOLDEN_VALUES_MISSING', { where })
    if (missing) doubts.push({ code: 'NO_GOLDEN_VALUES', where })
  }
  if (doubts.length === 0 && isIdle(rims, (rim) => used.has(rim))) doubts.push(idle('golden values'))
  return { doubts, used }
}

async function revocationDoubts(
  devices: readonly NvidiaDevice[],
  rims: ReadonlySet<Rim>,
  answers: readonly Brought<OcspAnswer>[],
  { policy, atMs, check }: BundleRules,
): Promise<AttestDoubt[]> {
  const { ocsp: wanted, ocspMaxAgeSeconds, clockSkewSeconds, allowOnHold } = policy
  if (wanted === 'ignored') return []
  const rules: OcspRules = {
    atMs,
    check,
    roots: [],
    maxAgeSeconds: ocspMaxAgeSeconds,
    skewSeconds: clockSkewSeconds,
    allowOnHold,
  }
  // Nobody answers for the leaf of a device: it is made by the device itself.
  const chains = [
    ...devices.map(({ chain }) => ({ chain, first: 1 })),
    ...[...rims].map(({ chain }) => ({ chain, first: 0 })),
  ]
  let missing = 0
  for (const { chain, first } of chains) missing += await unansweredIn(chain, first, answers, rules)
  const where = `${missing} certificates`
  if (missing > 0 && wanted === 'required') refuse('REVOCATION_MISSING', { where })
  if (missing > 0) return [{ code: 'NO_REVOCATION', where }]
  const isUsed = (answer: OcspAnswer) => chains.some(({ chain, first }) => isAboutOne(answer, chain, first))
  return isIdle(answers, isUsed) ? [idle('answers about revocation')] : []
}

/** AMD's list where the policy asks for it; one that is there must hold in any case. */
function listDoubts(cpu: CpuEvidence | null, { cpu: { crl: wanted = 'ignored' } }: AttestationPolicy): AttestDoubt[] {
  if (cpu?.kind !== 'sev-snp' || cpu.crl || wanted === 'ignored') return []
  const where = "AMD's list"
  return wanted === 'required' ? refuse('REVOCATION_MISSING', { where }) : [{ code: 'NO_REVOCATION', where }]
}

/** What a reader brings or asks for processors, and no processor is there that it could judge (attacks 261, 290). */
function idleDoubts(cpu: CpuEvidence | null, { crl, collateral = {}, policy }: BundleRules): AttestDoubt[] {
  const { measurements, crl: list = 'ignored', leastSnp } = policy.cpu
  const asksForOne = measurements.length > 0 || list !== 'ignored' || leastSnp !== undefined
  return [
    ...(asksForOne && cpu === null ? [idle('processor')] : []),
    ...(crl && cpu?.kind !== 'sev-snp' ? [idle("AMD's list")] : []),
    ...(isEmpty(collateral) || cpu?.kind === 'tdx' ? [] : [idle("Intel's statements")]),
  ]
}

const idle = (where: string) => ({ code: 'NOT_ATTESTED', where }) as const

async function verifyCpu(
  evidence: CpuEvidence | null,
  devices: readonly NvidiaDevice[],
  nonce: Uint8Array,
  rules: BundleRules,
): Promise<CpuReport | null> {
  if (evidence === null) return null
  const { proverKey, crl, collateral = {} } = rules
  const report = await verifyReport(evidence, rules)
  if (evidence.kind === 'sev-snp' && crl) await verifyReport({ ...evidence, crl }, rules)
  if (evidence.kind === 'tdx' && !isEmpty(collateral)) await verifyReport({ ...evidence, collateral }, rules)
  const bound = cpuReportData(
    nonce,
    proverKey,
    devices.map((device) => device.report.signed),
  )
  if (!equalBytes(report.reportData, bound)) refuse('CPU_BINDING_DIFFERS')
  return report
}

const verifyReport = (evidence: CpuEvidence, { policy, atMs, check }: BundleRules): Promise<CpuReport> =>
  evidence.kind === 'sev-snp'
    ? verifySnp(evidence, { atMs, check, roots: policy.roots.amd, least: policy.cpu.leastSnp })
    : verifyTdx(evidence, { atMs, check, roots: policy.roots.intel, allowed: policy.cpu.tdxStatus })

const isEmpty = (collateral: Readonly<Record<string, string>>): boolean => Object.keys(collateral).length === 0

function ensureDriver({ arch, driver }: NvidiaDevice, { leastDriver }: AttestationPolicy): void {
  if (arch === 'LS10' || leastDriver === null) return
  if (driver === null || isBelow(driver, leastDriver))
    refuse('DRIVER_REFUSED', { got: driver ?? 'none', expected: leastDriver })
}

/** 550.90.07 against 535.104: number by number. */
function isBelow(version: string, least: string): boolean {
  const [own, asked] = [version, least].map((text) => text.split('.').map(Number)) as [number[], number[]]
  for (const [i, number] of asked.entries()) {
    const mine = own[i] ?? 0
    if (mine !== number) return !(mine > number)
  }
  return false
}
