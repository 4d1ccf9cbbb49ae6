import { equalBytes } from '../bytes/bytes.ts'
import { toHex } from '../bytes/hex.ts'
import { type ChainRules, verifyChain } from './chain.ts'
import { ensureNotListed } from './crl.ts'
import { onlyValue, readSmall, TAG } from './der.ts'
import { malformed, refuse } from './refusals.ts'
import { type Certificate, readCertificate } from './x509.ts'

/** What a processor vouches for: the image it started, and 64 bytes that this image chose. */
export interface CpuReport {
  readonly kind: 'sev-snp' | 'tdx'
  /** Hex of 48 bytes. */
  readonly measurement: string
  readonly reportData: Uint8Array
}

export interface SnpEvidence {
  readonly report: Uint8Array
  readonly certificates: readonly Uint8Array[]
  /** AMD's list of families that were revoked, signed by its root. */
  readonly crl?: Uint8Array
}

/** AMD's report: where its fields lie. */
const REPORT_BYTES = 1184
const SIGNED_BYTES = 0x2a0
const AT = {
  policy: 0x08,
  privilege: 0x30,
  algorithm: 0x34,
  reportData: 0x50,
  measurement: 0x90,
  tcb: 0x180,
  chip: 0x1a0,
} as const
/** Levels of the firmware: now, as reported, as the host may go back to, and when the guest was started (attack 411). */
const LEVELS_AT = [0x38, AT.tcb, 0x1e0, 0x1f0]
/** In the third byte of the guest's policy: debugging, and an agent of the host's choice that may move it (attack 389). */
const OPEN_TO_HOST = (1 << (19 - 16)) | (1 << (18 - 16))
/** What a host says of an image: its version, family and id, data of its own, and who signed that (attacks 412, 418). */
const OF_HOST = [
  [0x04, 0x08],
  [0x10, 0x30],
  [0xc0, 0x140],
] as const
/** r and s are written little-endian in 72 bytes each, of which P-384 needs 48; the rest is zero. */
const NUMBER_BYTES = 72
const HALF = 48

/** Parts of the firmware, each with a level of its own. */
const SNP_PARTS = ['bootLoader', 'tee', 'snp', 'microcode'] as const
export type SnpLevels = Readonly<Record<(typeof SNP_PARTS)[number], number>>

export interface SnpRules extends ChainRules {
  /** Below these the processor is refused. */
  readonly least?: SnpLevels | undefined
}

/** Extensions of the certificate of a chip: its id, and the level of each part of its firmware. */
const CHIP_ID = '1.3.6.1.4.1.3704.1.4'
const LEVELS: Readonly<Record<keyof SnpLevels, { readonly oid: string; readonly byte: number }>> = {
  bootLoader: { oid: '1.3.6.1.4.1.3704.1.3.1', byte: 0 },
  tee: { oid: '1.3.6.1.4.1.3704.1.3.2', byte: 1 },
  snp: { oid: '1.3.6.1.4.1.3704.1.3.3', byte: 6 },
  microcode: { oid: '1.3.6.1.4.1.3704.1.3.8', byte: 7 },
}

/** Checks a report of AMD SEV-SNP against the certificate of its chip (VCEK), that of its family (ASK) and the root (ARK). */
export async function verifySnp({ report, certificates, crl }: SnpEvidence, rules: SnpRules): Promise<CpuReport> {
  if (report.length !== REPORT_BYTES || report[AT.algorithm] !== 1) malformed('SEV-SNP report')
  const chain = certificates.map(readCertificate)
  if (chain.length !== 3) refuse('CHAIN_LENGTH', { where: 'processor', got: chain.length, expected: 3 })
  await verifyChain(chain, rules, 'certificate of the processor')
  const [chip, family, root] = chain as [Certificate, Certificate, Certificate]
  if (crl) await ensureNotListed(crl, family, root, rules)
  const { scheme, spki } = chip.key
  const signed = report.subarray(0, SIGNED_BYTES)
  if (scheme !== 'p384-sha384' || !(await rules.check(scheme, spki, signed, signatureOf(report))))
    refuse('CPU_REPORT_SIGNATURE')
  ensureOwnChip(report, chip)
  ensureLevels(report, rules.least)
  const policy = report.subarray(AT.policy, AT.policy + 8)
  if ((policy[2]! & OPEN_TO_HOST) !== 0) refuse('CPU_DEBUG')
  for (const [from, to] of OF_HOST) ensureNothing(report.subarray(from, to))
  // Measured is what runs at level 0; what it starts below may be anything, and may ask for reports too (attack 393).
  const privilege = report[AT.privilege]!
  if (privilege !== 0) refuse('CPU_PRIVILEGE', { got: privilege, expected: 0 })
  return {
    kind: 'sev-snp',
    measurement: toHex(report.subarray(AT.measurement, AT.measurement + 48)),
    reportData: report.subarray(AT.reportData, AT.reportData + 64),
  }
}

function signatureOf(report: Uint8Array): Uint8Array {
  const raw = new Uint8Array(2 * HALF)
  for (const i of [0, 1]) {
    const from = SIGNED_BYTES + i * NUMBER_BYTES
    const number = report.subarray(from, from + NUMBER_BYTES).toReversed()
    if (number.subarray(0, NUMBER_BYTES - HALF).some((byte) => byte !== 0)) malformed('SEV-SNP report')
    raw.set(number.subarray(NUMBER_BYTES - HALF), i * HALF)
  }
  if (report.subarray(SIGNED_BYTES + 2 * NUMBER_BYTES).some((byte) => byte !== 0)) malformed('SEV-SNP report')
  return raw
}

/** What a host hands to an image beside what is measured may be its configuration (attack 412). */
export function ensureNothing(fromHost: Uint8Array): void {
  if (fromHost.some((byte) => byte !== 0)) refuse('CPU_HOST_DATA')
}

/** The certificate must be that of the very chip, at the level of firmware that the report states. */
function ensureOwnChip(report: Uint8Array, { extensions }: Certificate): void {
  const chip = extensions.get(CHIP_ID)
  if (!chip || !equalBytes(chip, report.subarray(AT.chip, AT.chip + 64)))
    refuse('DEVICE_KEY_DIFFERS', { where: 'processor' })
  for (const { oid, byte } of Object.values(LEVELS)) {
    const level = extensions.get(oid) ?? malformed('certificate of the processor')
    const stated = readSmall(onlyValue(level, TAG.integer, 'certificate of the processor'), 'level')
    if (stated !== report[AT.tcb + byte]) refuse('FWID_DIFFERS', { where: 'processor' })
  }
}

function ensureLevels(report: Uint8Array, least: SnpLevels | undefined): void {
  if (!least) return
  for (const part of SNP_PARTS) {
    const got = Math.min(...LEVELS_AT.map((at) => report[at + LEVELS[part].byte]!))
    if (got < least[part]) refuse('CPU_TCB_REFUSED', { where: part, got, expected: least[part] })
  }
}
