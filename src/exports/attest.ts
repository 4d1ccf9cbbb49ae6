/** Evidence of hardware vendors: judged offline, by a policy and with cryptography that are handed in. */
import * as z from 'zod'
import * as core from '../core/attest/attestationReader.ts'
import { requireForm } from '../core/params/requireForm.ts'

const bytes = z.instanceof(Uint8Array)

/** What the policy asks is asked by `core`; a rule under another name would be asked by nobody. */
const rulesForm = z.strictObject({
  policy: z.unknown(),
  check: z.custom((check) => typeof check === 'function'),
  nonce: bytes.nullable(),
  atMs: z.number().nullable(),
  devices: z.int().min(1).nullish(),
  rims: z.array(bytes),
  ocsp: z.array(bytes),
  crl: bytes.nullish(),
  collateral: z.record(z.string(), z.string()).optional(),
})

/** A list of chips that is none would be asked of nobody (attack 454). */
const runForm = z
  .strictObject({
    x: bytes,
    queries: z.array(bytes),
    proverKey: bytes,
    gpus: z.int().min(1),
    chips: z.array(z.array(z.string().regex(/^\w+$/))),
    atMs: z.number(),
  })
  .refine(({ gpus, chips }) => chips.length === gpus)

/** Throws `RangeError` where a rule is none, or a policy. */
export const attestationReader: typeof core.attestationReader = (rules) => {
  requireForm(rulesForm, rules, 'rules')
  const reader = core.attestationReader(rules)
  return {
    ...reader,
    checkRun: async (carried, run) => {
      requireForm(runForm, run, 'run')
      return await reader.checkRun(carried, run)
    },
  }
}

export type { AttestationReader, AttestationRules } from '../core/attest/attestationReader.ts'
export { type Bundle, writeBundle } from '../core/attest/bundle.ts'
export type { CheckedBundle, Tier } from '../core/attest/checkBundle.ts'
export { ATTEST_DOUBTS, type AttestDoubt } from '../core/attest/doubts.ts'
export { type AttestationPolicy, NVIDIA_POLICY, policySchema } from '../core/attest/policy.ts'
export { REFUSALS, type Refusal } from '../core/attest/refusals.ts'
export type { SignatureChecker, SignatureScheme } from '../core/attest/signatureChecker.ts'
