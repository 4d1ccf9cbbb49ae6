import * as z from 'zod'
import { equalBytes } from '../bytes/bytes.ts'
import { hex, instant } from '../bytes/fields.ts'
import { fromHex, toHex } from '../bytes/hex.ts'
import { toMillis } from '../units/instants.ts'
import type { ReaderRules } from './checkCertificate.ts'

/**
 * Keys that no longer sign, as their reader was told. `revoked`: others may have the secret. `rotated`: it was given up in
 * good order, and who trusts it trusts its successor.
 */
export const revocationSchema = z.strictObject({
  version: z.literal(1),
  keys: z
    .array(
      z.union([
        z.strictObject({ key: hex(32), status: z.literal('revoked'), since: instant }),
        z.strictObject({ key: hex(32), status: z.literal('rotated'), since: instant, successor: hex(32) }),
      ]),
    )
    .max(10_000),
})

export type Revocations = z.infer<typeof revocationSchema>['keys']

/** The keys a reader trusts, and those that took over from them by his own list; a key that anybody calls revoked has none. */
export function withSuccessors(trusted: readonly Uint8Array[], own: Revocations, all = own): Uint8Array[] {
  const known = new Set(trusted.map(toHex))
  // A set may grow while it is walked: successors of successors are found too, and a circle ends.
  for (const key of known)
    if (!isRevoked(endsOf(key, all)))
      for (const entry of endsOf(key, own)) if (entry.status === 'rotated') known.add(entry.successor)
  return [...known].map((key) => fromHex(key, 32)!)
}

/** How many signers these keys are: a key, what it took over from and what took over from it are one (attack 391). */
export const countSigners = (keys: readonly Uint8Array[], revocations: Revocations): number =>
  new Set(keys.map((key) => firstOf(toHex(key), revocations))).size

/** The same name for all keys of one signer. */
function firstOf(key: string, revocations: Revocations): string {
  const known = new Set([key])
  for (const one of known)
    for (const entry of revocations)
      if (entry.status === 'rotated' && (entry.key === one || entry.successor === one))
        known.add(entry.key).add(entry.successor)
  return [...known].sort()[0]!
}

export type Standing = 'good' | 'doubtful' | 'bad'

/**
 * What a signature of this key is worth in a file that says it was issued then. The date is the signer's own, so of a key
 * that others may have it proves nothing, not even before it was revoked.
 */
export function standingOf(key: Uint8Array, issuedAt: string, revocations: Revocations): Standing {
  const ended = endsOf(toHex(key), revocations)
  if (ended.some(({ since }) => toMillis(since) <= toMillis(issuedAt))) return 'bad'
  return isRevoked(ended) ? 'doubtful' : 'good'
}

/**
 * A key for each signer of a file who counts for its reader: he trusts it, it had not ended when the file was issued, and
 * nobody else may have it. Of several keys of one signer the first (attack 489).
 */
export function countedKeys(
  signerKeys: readonly Uint8Array[],
  issuedAt: string,
  { trusted, revocations }: Pick<ReaderRules, 'trusted' | 'revocations'>,
): Uint8Array[] {
  const isTrusted = (key: Uint8Array) => trusted.some((other) => equalBytes(other, key))
  const good = signerKeys.filter((key) => isTrusted(key) && standingOf(key, issuedAt, revocations) === 'good')
  const signers = good.map((key) => firstOf(toHex(key), revocations))
  return good.filter((_, i) => signers.indexOf(signers[i]!) === i)
}

/** Whether somebody with this key, whom its reader trusts, can have watched a prover: in good standing, and not the prover itself (attack 416). */
export const isWatcher = (key: Uint8Array, prover: Uint8Array, issuedAt: string, revocations: Revocations): boolean =>
  standingOf(key, issuedAt, revocations) === 'good' && countSigners([key, prover], revocations) === 2

const endsOf = (key: string, revocations: Revocations): Revocations => revocations.filter((entry) => entry.key === key)

/** By what is told of one key. Where more than one end is, somebody else may have it (attacks 293, 395, 406). */
const isRevoked = (ended: Revocations): boolean =>
  new Set(ended.map((entry) => (entry.status === 'rotated' ? entry.successor : 'nobody'))).size > 1 ||
  ended.some(({ status }) => status === 'revoked')
