/** Evidence of hardware vendors: judged offline, by a policy and with cryptography that are handed in. */
export {
  type AttestationReader,
  type AttestationRules,
  attestationReader,
} from '../core/attest/attestationReader.ts'
export { type Bundle, writeBundle } from '../core/attest/bundle.ts'
export type { CheckedBundle, Tier } from '../core/attest/checkBundle.ts'
export { ATTEST_DOUBTS, type AttestDoubt } from '../core/attest/doubts.ts'
export { type AttestationPolicy, NVIDIA_POLICY, policySchema } from '../core/attest/policy.ts'
export { REFUSALS, type Refusal } from '../core/attest/refusals.ts'
export type { SignatureChecker, SignatureScheme } from '../core/attest/signatureChecker.ts'
