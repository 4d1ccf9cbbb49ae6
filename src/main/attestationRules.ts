import type { Command } from 'commander'
import * as z from 'zod'
import type { AttestationRules } from '../core/attest/attestationReader.ts'
import { type AttestationPolicy, NVIDIA_POLICY, policySchema } from '../core/attest/policy.ts'
import { decodeJson } from '../core/bytes/decodeJson.ts'
import { checkVendorSignature } from '../drivers/system/checkVendorSignature.ts'
import { readRegularFile } from '../drivers/system/readRegularFile.ts'
import { fault } from './faults.ts'
import { addText } from './parseOptions.ts'

/** Far more than any policy, golden values or answer has. */
const MOST_BYTES = 2 ** 20

/** Files by which evidence of hardware vendors is judged. */
export interface AttestationFiles {
  readonly policy?: string | undefined
  /** Golden values, and stored answers about revocation. */
  readonly rim?: readonly string[]
  readonly ocsp?: readonly string[]
  /** For processors: AMD's list of revoked certificates, and Intel's statements. */
  readonly crl?: string | undefined
  readonly collateral?: string | undefined
}

/** Names of what `addVendorOptions` adds. */
export const VENDOR_OPTIONS = ['policy', 'rim', 'ocsp', 'crl', 'collateral'] as const

/** By what evidence of hardware vendors is to be judged, where anything of it was brought along. */
export const vendorOption = (files: AttestationFiles) => VENDOR_OPTIONS.find((option) => files[option] !== undefined)

/** All of them, by their names. */
export const vendorFiles = ({ policy, rim = [], ocsp = [], crl, collateral }: AttestationFiles) => [
  ...[policy, crl, collateral],
  ...rim,
  ...ocsp,
]

/** Where they are named on a command line. */
export const addVendorOptions = (command: Command): Command =>
  command
    .option('--policy <file>', 'what evidence of hardware vendors must show (docs/spec/attestation.md), as JSON')
    .option('--rim <file>', "golden values of cards that attest, the vendor's own file; may be repeated", addText)
    .option('--ocsp <file>', 'a stored answer about revocation; may be repeated', addText)
    .option('--crl <file>', "AMD's list of revoked certificates, for processors that attest")
    .option('--collateral <file>', "Intel's statements as JSON (tcb_info, qe_identity, …), likewise")

/** What somebody brings along to judge evidence of hardware vendors; a policy that hears nothing of it is refused (attack 282). */
export function attestationRules(files: AttestationFiles): AttestationRules {
  const { rim = [], ocsp = [], crl, collateral } = files
  const policy = files.policy === undefined ? NVIDIA_POLICY : readPolicy(files.policy)
  const option = (['rim', 'ocsp'] as const).find((one) => files[one]?.length && policy[one] === 'ignored')
  if (option !== undefined) throw fault('POLICY_IGNORES', { file: files.policy ?? '', option })
  return {
    policy,
    check: checkVendorSignature,
    nonce: null,
    atMs: null,
    rims: rim.map((file) => unwrapped(fileOf(file))),
    ocsp: ocsp.map((file) => unbased(fileOf(file))),
    crl: crl === undefined ? null : unbased(fileOf(crl)),
    collateral: collateral === undefined ? {} : readCollateral(collateral),
  }
}

function fileOf(file: string): Uint8Array {
  try {
    const read = readRegularFile(file, MOST_BYTES)
    if (typeof read !== 'number') return read
  } catch (cause) {
    throw fault('NOT_READABLE', { file }, cause)
  }
  throw fault('NOT_READABLE', { file })
}

function readPolicy(file: string): AttestationPolicy {
  try {
    return decodeJson(fileOf(file), policySchema, 'policy')
  } catch (cause) {
    const problem = cause instanceof Error ? cause.message : 'not a policy'
    throw fault('BAD_POLICY', { file, problem }, cause)
  }
}

/** Strings by the names of Intel's service, as the tools that fetch from it write them; none at all judge nothing (attack 282). */
const collateralSchema = z
  .record(z.string().max(40), z.string().max(65_536))
  .refine((given) => Object.keys(given).length > 0, 'it is empty')

function readCollateral(file: string): Readonly<Record<string, string>> {
  try {
    return decodeJson(fileOf(file), collateralSchema, 'collateral')
  } catch (cause) {
    const problem = cause instanceof Error ? cause.message : 'not collateral'
    throw fault('BAD_COLLATERAL', { file, problem }, cause)
  }
}

/** NVIDIA's service hands golden values out inside of JSON. */
function unwrapped(bytes: Uint8Array): Uint8Array {
  try {
    return Buffer.from(decodeJson(bytes, z.object({ rim: z.string() }), 'golden values').rim, 'base64')
  } catch {
    return bytes
  }
}

/** Stored answers are bytes, or the same in base64. */
const unbased = (bytes: Uint8Array): Uint8Array =>
  bytes[0] === 0x30 ? bytes : Buffer.from(Buffer.from(bytes).toString('latin1'), 'base64')
