import { equalBytes } from '../bytes/bytes.ts'
import { toHex } from '../bytes/hex.ts'
import type { ChainRules } from './chain.ts'
import { verifyChain } from './chain.ts'
import { context, opened, readOid, readSmall, TAG } from './der.ts'
import { readPem } from './pem.ts'
import { malformed, refuse } from './refusals.ts'
import { FIELD, readReport, type SpdmReport, textField } from './spdm.ts'
import { type Certificate, KEY_USAGE, readCertificate } from './x509.ts'

/** What NVIDIA's tools call the kinds of device, and by what we know them. */
const ARCHS = {
  HOPPER: { model: /^GH100 /, serial: 0x41, fwid: hopperFwid },
  BLACKWELL: { model: /^GB\d{3} /, serial: 0x41, fwid: blackwellFwid },
  LS10: { model: /^LS_10 /, serial: 0x50, fwid: hopperFwid },
} as const

export type Arch = keyof typeof ARCHS
export const ARCH_NAMES = Object.keys(ARCHS) as [Arch, ...Arch[]]

/** Leaf, device, provisioner, family, root. */
const CHAIN_LENGTH = 5
const MOST_CHAIN_BYTES = 0x2000

/** The later layouts of the vendor's fields are not known here. */
const LAST_OPAQUE_VERSION = 1

export interface NvidiaEvidence {
  readonly arch: Arch
  readonly report: Uint8Array
  /** PEM, leaf first. */
  readonly chain: Uint8Array
}

/** A device whose chain and report hold: genuine, identified, and it signed this nonce. */
export interface NvidiaDevice {
  readonly arch: Arch
  /** Such as `GH100 A01 GSP BROM`. */
  readonly model: string
  /** The identifier burnt into the chip, 16 hex digits. */
  readonly pdi: string
  readonly driver: string | null
  readonly vbios: string | null
  readonly report: SpdmReport
  readonly chain: readonly Certificate[]
}

/** Checks one device: chain to a pinned root, signature, nonce, firmware id, and that all of it is about one device. */
export async function verifyNvidiaDevice(
  { arch, report: bytes, chain: pem }: NvidiaEvidence,
  nonce: Uint8Array,
  rules: ChainRules,
): Promise<NvidiaDevice> {
  if (pem.length > MOST_CHAIN_BYTES) refuse('EVIDENCE_TOO_LARGE', { where: 'certificate chain', got: pem.length })
  const report = readReport(bytes)
  const chain = readPem(pem, CHAIN_LENGTH).map(readCertificate)
  if (chain.length !== CHAIN_LENGTH) refuse('CHAIN_LENGTH', { got: chain.length, expected: CHAIN_LENGTH })
  const [leaf, device] = chain as [Certificate, Certificate]
  if (leaf.keyUsage !== KEY_USAGE.digitalSignature || leaf.ca) refuse('CHAIN_CONSTRAINT', { where: 'certificate 0' })
  if (chain.some(({ key }) => key.scheme !== 'p384-sha384')) malformed('certificate chain')
  await verifyChain(chain, rules, 'certificate')
  const { key } = leaf
  if (!(await rules.check(key.scheme, key.spki, report.signed, report.signature))) refuse('REPORT_SIGNATURE')
  if (!equalBytes(report.nonce, nonce)) refuse('NONCE_DIFFERS', { got: toHex(report.nonce), expected: toHex(nonce) })
  ensureOneDevice(arch, leaf, device, report)
  return {
    arch,
    model: device.commonName,
    pdi: toHex(device.serial.subarray(1)),
    driver: textField(report.fields, FIELD.driverVersion),
    vbios: vbiosOf(arch, report),
    report,
    chain,
  }
}

function ensureOneDevice(arch: Arch, leaf: Certificate, device: Certificate, { fields }: SpdmReport): void {
  const { model, serial, fwid } = ARCHS[arch]
  if (!model.test(device.commonName)) refuse('ARCH_DIFFERS', { expected: arch })
  if (device.serial.length !== 9 || device.serial[0] !== serial) malformed('certificate 1')
  const certified = fwid(leaf, device)
  const reported = fields.get(FIELD.fwid)
  if (reported !== undefined && !equalBytes(reported, certified)) refuse('FWID_DIFFERS')
  if ((fields.get(FIELD.opaqueVersion)?.[0] ?? 0) > LAST_OPAQUE_VERSION) malformed('vendor fields')
}

const SHA384 = '2.16.840.1.101.3.4.2.2'
const DIGEST_BYTES = 48

/** TCG's CompositeDeviceID: a version, the key of the device, the digest of its firmware. */
function hopperFwid({ extensions }: Certificate, device: Certificate): Uint8Array {
  const what = 'firmware id'
  const fields = opened(extensions.get('2.23.133.5.4.1') ?? malformed(what), TAG.sequence, what)
  if (readSmall(fields.take(TAG.integer), what) !== 1) malformed(what)
  if (!equalBytes(fields.take(TAG.sequence).raw, device.key.spki)) refuse('DEVICE_KEY_DIFFERS')
  const digest = digestOf(fields.take(TAG.sequence).raw, what)
  fields.end()
  return digest
}

/** DICE TcbInfo: the first of its list of firmware digests. */
function blackwellFwid({ extensions }: Certificate): Uint8Array {
  const what = 'firmware id'
  const fields = opened(extensions.get('2.23.133.5.4.1.1') ?? malformed(what), TAG.sequence, what)
  while (fields.peek !== null && fields.peek !== context(6)) fields.any()
  return digestOf(fields.inside(context(6)).take(TAG.sequence).raw, what)
}

function digestOf(value: Uint8Array, what: string): Uint8Array {
  const pair = opened(value, TAG.sequence, what)
  if (readOid(pair.take(TAG.oid), what) !== SHA384) malformed(what)
  const { body } = pair.take(TAG.octetString)
  pair.end()
  return body.length === DIGEST_BYTES ? body : malformed(what)
}

/** A switch writes it as text, a GPU as five bytes in an order of its own. */
function vbiosOf(arch: Arch, { fields }: SpdmReport): string | null {
  if (arch === 'LS10') return textField(fields, FIELD.vbiosVersion)
  const bytes = fields.get(FIELD.vbiosVersion)
  if (bytes === undefined) return null
  if (bytes.length !== 8) malformed('vendor fields')
  return [3, 2, 1, 0, 4].map((i) => toHex(bytes.subarray(i, i + 1)).toUpperCase()).join('.')
}
