import { equalBytes } from '../bytes/bytes.ts'
import { toHex } from '../bytes/hex.ts'
import { cpuReportData } from './binding.ts'
import type { Bundle, CpuEvidence } from './bundle.ts'
import type { ChainRules } from './chain.ts'
import type { AttestDoubt } from './doubts.ts'
import { verifyMeasurements } from './measurements.ts'
import { type NvidiaDevice, verifyNvidiaDevice } from './nvidiaDevice.ts'
import { type OcspAnswer, type OcspRules, readOcsp, unansweredIn } from './ocsp.ts'
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
  /** What the reader himself brings for processors: it must hold too, whatever the bundle brings (attack 260). */
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
  const rims = policy.rim === 'ignored' ? [] : bundle.rims.map(readRim)
  const answers = policy.ocsp === 'ignored' ? [] : bundle.ocsp.map(readOcsp)
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

async function goldenDoubts(
  devices: readonly NvidiaDevice[],
  rims: readonly Rim[],
  rules: ChainRules,
  { rim: wanted }: AttestationPolicy,
): Promise<{ readonly doubts: readonly AttestDoubt[]; readonly used: ReadonlySet<Rim> }> {
  // Files that serve no device are anybody's: nothing more is asked about them (attack 192).
  const used = new Set<Rim>()
  if (wanted === 'ignored') return { doubts: [], used }
  for (const device of devices) {
    const measured = await verifyMeasurements(device, rims, rules)
    for (const rim of measured.used) used.add(rim)
    const { missing } = measured
    const where = `${missing} of ${device.pdi}`
    if (missing && wanted === 'required') refuse('GOLDEN_VALUES_MISSING', { where })
    if (missing) return { doubts: [{ code: 'NO_GOLDEN_VALUES', where }], used }
  }
  return { doubts: [], used }
}

async function revocationDoubts(
  devices: readonly NvidiaDevice[],
  rims: ReadonlySet<Rim>,
  answers: readonly OcspAnswer[],
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
  let missing = 0
  // Nobody answers for the leaf of a device: it is made by the device itself.
  for (const { chain } of devices) missing += await unansweredIn(chain, 1, answers, rules)
  for (const { chain } of rims) missing += await unansweredIn(chain, 0, answers, rules)
  const where = `${missing} certificates`
  if (missing > 0 && wanted === 'required') refuse('REVOCATION_MISSING', { where })
  return missing > 0 ? [{ code: 'NO_REVOCATION', where }] : []
}

/** AMD's list where the policy asks for it; one that is there must hold in any case. */
function listDoubts(cpu: CpuEvidence | null, { cpu: { crl: wanted = 'ignored' } }: AttestationPolicy): AttestDoubt[] {
  if (cpu?.kind !== 'sev-snp' || cpu.crl || wanted === 'ignored') return []
  const where = "AMD's list"
  return wanted === 'required' ? refuse('REVOCATION_MISSING', { where }) : [{ code: 'NO_REVOCATION', where }]
}

/** What a reader brings for processors, and no processor is there that it could judge (attack 261). */
function idleDoubts(cpu: CpuEvidence | null, { crl, collateral = {} }: BundleRules): AttestDoubt[] {
  const idle = (where: string) => ({ code: 'NOT_ATTESTED', where }) as const
  return [
    ...(crl && cpu?.kind !== 'sev-snp' ? [idle("AMD's list")] : []),
    ...(isEmpty(collateral) || cpu?.kind === 'tdx' ? [] : [idle("Intel's statements")]),
  ]
}

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
    ? verifySnp(evidence, { atMs, check, roots: policy.roots.amd })
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
