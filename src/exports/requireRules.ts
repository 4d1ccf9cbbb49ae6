import type { ReaderRules } from '../core/certificate/checkCertificate.ts'
import { revocationSchema } from '../core/certificate/signers.ts'
import { requireCatalogue } from './requireCatalogue.ts'

const isKey = (key: unknown) => key instanceof Uint8Array && key.length === 32
const areKeys = (list: unknown) => Array.isArray(list) && list.every(isKey)
const orNone = (type: string, value: unknown) => value === undefined || typeof value === type

/** What each rule must be. Nothing is larger than what is no number, and no key is one in capitals (attack 426). */
const RIGHT: { readonly [K in keyof Required<ReaderRules>]: (rule: ReaderRules[K]) => boolean } = {
  nowMs: (rule) => Number.isFinite(rule),
  catalogue: () => true,
  trusted: areKeys,
  revocations: (rule) => revocationSchema.shape.keys.safeParse(rule).success,
  threshold: (rule) => Number.isSafeInteger(rule) && rule > 0,
  required: areKeys,
  prover: (rule) => rule === null || isKey(rule),
  maxAgeSeconds: (rule) => rule === null || (Number.isFinite(rule) && rule >= 0),
  claim: (rule) => rule !== '' && orNone('string', rule),
  kinds: (rule) => rule !== null && orNone('object', rule),
  attestation: (rule) => rule !== null && orNone('object', rule),
  checkSignature: (rule) => orNone('function', rule),
}

/** A rule that is none, or has another name, would be kept by everybody (attacks 194, 426 and 445). */
export function requireRules(rules: ReaderRules): void {
  const isRight = (name: keyof ReaderRules) => RIGHT[name](rules[name] as never)
  const known = Object.keys(RIGHT) as (keyof ReaderRules)[]
  const unknown = Object.keys(rules).find((name) => !Object.hasOwn(RIGHT, name))
  const wrong = unknown ?? known.find((name) => !isRight(name))
  if (wrong !== undefined) throw new TypeError(`${wrong} is no valid rule`)
  requireCatalogue(rules.catalogue)
}
