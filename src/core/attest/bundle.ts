import * as z from 'zod'
import { fromBase64, toBase64 } from '../bytes/base64.ts'
import { fromHex, toHex } from '../bytes/hex.ts'
import { parseStrictJson } from '../bytes/parseStrictJson.ts'
import { ARCH_NAMES, type NvidiaEvidence } from './nvidiaDevice.ts'
import { malformed, refuse } from './refusals.ts'
import type { SnpEvidence } from './snp.ts'

/** Evidence of a whole box in one file: devices in NVIDIA's own form, and what is needed to judge them offline. */
export const BUNDLE_FORMAT = 'touchstone-evidence-1'

/** 32 GPUs, their switches, golden values and answers stay far below. */
export const MOST_BUNDLE_BYTES = 4 * 2 ** 20
const MOST_DEVICES = 64
const MOST_ENDORSEMENTS = 256

/** Reading a megabyte of small values takes the time of a hundred times as many bytes in long ones (attack 249). */
const MOST_VALUES = 20_000
const COMMA = 0x2c

const base64 = z.string().max(700_000)

/** What `nvtrust` and NVIDIA's SDK write for a device; they may add fields, which nothing here looks at. */
const device = z.object({
  arch: z.enum(ARCH_NAMES),
  nonce: z.string().max(64),
  evidence: base64,
  certificate: base64,
})
const devices = z.array(device).min(1).max(MOST_DEVICES)
const endorsements = z.array(base64).max(MOST_ENDORSEMENTS)

const cpu = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('sev-snp'),
    report: base64,
    certificates: z.array(base64).max(8),
    crl: base64.exactOptional(),
  }),
  z.strictObject({
    kind: z.literal('tdx'),
    quote: base64,
    collateral: z.record(z.string().max(40), z.string().max(65_536)),
  }),
])

const bundle = z.strictObject({
  format: z.literal(BUNDLE_FORMAT),
  devices,
  rims: endorsements,
  ocsp: endorsements,
  cpu: cpu.nullable(),
})

/** What the processor's vendor signed for the machine around the cards. */
export type CpuEvidence =
  | ({ readonly kind: 'sev-snp' } & SnpEvidence)
  | { readonly kind: 'tdx'; readonly quote: Uint8Array; readonly collateral: Readonly<Record<string, string>> }

export interface Bundle {
  readonly devices: readonly (NvidiaEvidence & { readonly nonce: Uint8Array })[]
  /** Golden values, as XML. */
  readonly rims: readonly Uint8Array[]
  readonly ocsp: readonly Uint8Array[]
  readonly cpu: CpuEvidence | null
}

/** Whether a file is evidence for this folder, by its first letters: it need not be right. */
export const looksLikeBundle = (file: Uint8Array): boolean => {
  const start = new TextDecoder('latin1').decode(file.subarray(0, 64)).trimStart()
  return /^\[\s*\{/.test(start) || start.startsWith(`{"format":"${BUNDLE_FORMAT}"`)
}

/** Reads a bundle, or the list of devices that NVIDIA's tools write. */
export function readBundle(file: Uint8Array): Bundle {
  if (file.length > MOST_BUNDLE_BYTES) refuse('EVIDENCE_TOO_LARGE', { got: file.length, expected: MOST_BUNDLE_BYTES })
  if (file.reduce((values, byte) => values + Number(byte === COMMA), 0) > MOST_VALUES) malformed('values')
  const value = jsonOf(file)
  const parsed = Array.isArray(value)
    ? devices.transform((list) => ({ devices: list, rims: [], ocsp: [], cpu: null })).safeParse(value)
    : bundle.safeParse(value)
  if (!parsed.success) return malformed(parsed.error.issues[0]?.path.map(String).join('.') || 'bundle')
  const { data } = parsed
  return {
    devices: data.devices.map(({ arch, nonce, evidence, certificate }) => ({
      arch,
      nonce: fromHex(nonce, 32) ?? malformed('nonce'),
      report: bytesOf(evidence),
      chain: bytesOf(certificate),
    })),
    rims: data.rims.map(bytesOf),
    ocsp: data.ocsp.map(bytesOf),
    cpu: cpuOf(data.cpu),
  }
}

/** The file that `readBundle` reads. */
export function writeBundle({ devices, rims, ocsp, cpu }: Bundle): Uint8Array {
  const stated: z.infer<typeof bundle> = {
    format: BUNDLE_FORMAT,
    devices: devices.map(({ arch, nonce, report, chain }) => ({
      arch,
      nonce: toHex(nonce),
      evidence: toBase64(report),
      certificate: toBase64(chain),
    })),
    rims: rims.map(toBase64),
    ocsp: ocsp.map(toBase64),
    cpu: cpu === null ? null : stateCpu(cpu),
  }
  return new TextEncoder().encode(JSON.stringify(stated))
}

const stateCpu = (evidence: CpuEvidence): z.infer<typeof cpu> =>
  evidence.kind === 'tdx'
    ? { ...evidence, quote: toBase64(evidence.quote) }
    : {
        kind: evidence.kind,
        report: toBase64(evidence.report),
        certificates: evidence.certificates.map(toBase64),
        ...(evidence.crl ? { crl: toBase64(evidence.crl) } : {}),
      }

function cpuOf(value: z.infer<typeof cpu> | null): CpuEvidence | null {
  if (value === null) return null
  if (value.kind === 'tdx') return { ...value, quote: bytesOf(value.quote) }
  const { kind, report, certificates, crl } = value
  const listed = crl === undefined ? {} : { crl: bytesOf(crl) }
  return { kind, report: bytesOf(report), certificates: certificates.map(bytesOf), ...listed }
}

const bytesOf = (text: string): Uint8Array => fromBase64(text) ?? malformed('base64')

function jsonOf(file: Uint8Array): unknown {
  try {
    return parseStrictJson(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(file))
  } catch {
    return malformed('JSON')
  }
}
