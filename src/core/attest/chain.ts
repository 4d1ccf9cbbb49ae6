import { equalBytes } from '../bytes/bytes.ts'
import { toHex } from '../bytes/hex.ts'
import { sha256 } from '../bytes/sha256.ts'
import { toInstant } from '../units/instants.ts'
import { refuse } from './refusals.ts'
import type { SignatureChecker } from './signatureChecker.ts'
import { type Certificate, KEY_USAGE } from './x509.ts'

/** A root by the SHA-256 of its key, hex: certificates are renewed, keys of roots stay. */
export type RootPin = string

export interface ChainRules {
  readonly atMs: number
  readonly roots: readonly RootPin[]
  readonly check: SignatureChecker
}

/** The leaf first, its root last: every link signed, allowed to sign, and valid at that time; the root is a known one. */
export async function verifyChain(chain: readonly Certificate[], rules: ChainRules, what: string): Promise<void> {
  const root = chain.at(-1)
  if (root === undefined) refuse('CHAIN_LENGTH', { where: what, got: 0 })
  for (const [i, certificate] of chain.entries()) {
    const where = `${what} ${i}`
    ensureTime(certificate, rules.atMs, where)
    if (i > 0) ensureIssuer(certificate, i - 1, where)
    const issuer = chain[i + 1] ?? root
    if (!equalBytes(certificate.issuer, issuer.subject)) refuse('CHAIN_BROKEN', { where })
    await ensureSigned(certificate, issuer, rules.check, where)
  }
  const pin = pinOf(root)
  if (!rules.roots.includes(pin)) refuse('UNKNOWN_ROOT', { where: what, got: pin })
}

export const pinOf = ({ key }: Certificate): RootPin => toHex(sha256(key.spki))

export function ensureTime({ notBeforeMs, notAfterMs }: Certificate, atMs: number, where: string): void {
  if (atMs < notBeforeMs) refuse('CHAIN_NOT_YET_VALID', { where, got: toInstant(notBeforeMs) })
  if (atMs > notAfterMs) refuse('CHAIN_EXPIRED', { where, got: toInstant(notAfterMs) })
}

/** `below`: how many issuers stand between it and the leaf. */
function ensureIssuer({ ca, pathLength, keyUsage }: Certificate, below: number, where: string): void {
  const may = ca && pathLength >= below && (keyUsage === null || (keyUsage & KEY_USAGE.certSign) !== 0)
  if (!may) refuse('CHAIN_CONSTRAINT', { where })
}

/** That the key of the issuer signed it, in the scheme of that key. */
export async function ensureSigned(
  { signed, signature, signatureScheme }: Pick<Certificate, 'signed' | 'signature' | 'signatureScheme'>,
  { key }: Pick<Certificate, 'key'>,
  check: SignatureChecker,
  where: string,
): Promise<void> {
  const fits = signatureScheme === key.scheme && (await check(key.scheme, key.spki, signed, signature))
  if (!fits) refuse('CHAIN_BROKEN', { where })
}
