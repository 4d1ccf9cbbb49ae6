import type { ReaderRules } from '../core/certificate/checkCertificate.ts'
import { revocationSchema } from '../core/certificate/signers.ts'

/** Nothing is larger than what is no number, and no key is one in capitals: such a rule would be none (attack 426). */
export function requireRules(rules: ReaderRules): void {
  const { nowMs, threshold, maxAgeSeconds, claim, revocations, trusted, required, prover } = rules
  const areKeys = (list: unknown) => Array.isArray(list) && list.every((key) => key?.length === 32)
  const isRight = {
    nowMs: Number.isFinite(nowMs),
    threshold: Number.isSafeInteger(threshold) && threshold > 0,
    maxAgeSeconds: maxAgeSeconds === null || maxAgeSeconds >= 0,
    claim: claim === undefined || typeof claim === 'string',
    revocations: revocationSchema.shape.keys.safeParse(revocations).success,
    trusted: areKeys(trusted),
    required: areKeys(required),
    prover: prover === null || areKeys([prover]),
  }
  const wrong = Object.entries(isRight).find(([, right]) => !right)
  if (wrong) throw new TypeError(`${wrong[0]} is no valid rule`)
}
