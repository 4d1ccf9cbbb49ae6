import { equalBytes } from '../bytes/bytes.ts'
import { toInstant } from '../units/instants.ts'
import { type ChainRules, ensureSigned } from './chain.ts'
import { context, DerReader, opened, readBits, readSmall, readUnsigned, TAG } from './der.ts'
import { malformed, refuse } from './refusals.ts'
import { type Certificate, readTime, schemeOf, signatureIn } from './x509.ts'

const WHAT = 'revocation list'
const MOST_BYTES = 256 * 1024

/** Refuses a certificate that its issuer's list names; the list must be the issuer's and of that time. */
export async function ensureNotListed(
  list: Uint8Array,
  certificate: Certificate,
  issuer: Certificate,
  { atMs, check }: ChainRules,
): Promise<void> {
  if (list.length > MOST_BYTES) malformed(WHAT)
  const outer = opened(list, TAG.sequence, WHAT)
  const tbs = outer.take(TAG.sequence)
  const algorithm = outer.take(TAG.sequence).raw
  const signatureScheme = schemeOf(algorithm) ?? malformed(WHAT)
  const signature = signatureIn(readBits(outer.take(TAG.bitString), WHAT), signatureScheme)
  outer.end()
  const fields = new DerReader(tbs.body, WHAT)
  if (readSmall(fields.take(TAG.integer), WHAT) !== 1) malformed(WHAT)
  if (!equalBytes(fields.take(TAG.sequence).raw, algorithm)) malformed(WHAT)
  const name = fields.take(TAG.sequence).raw
  const [thisUpdateMs, nextUpdateMs] = [readTime(fields.any()), readTime(fields.any())]
  const serials = fields.peek === TAG.sequence ? serialsIn(fields.inside(TAG.sequence)) : []
  fields.optional(context(0))
  fields.end()
  if (!equalBytes(name, issuer.subject)) refuse('COLLATERAL_DIFFERS', { where: WHAT })
  if (atMs < thisUpdateMs || atMs > nextUpdateMs)
    refuse('COLLATERAL_DIFFERS', { where: WHAT, got: toInstant(thisUpdateMs), expected: toInstant(atMs) })
  await ensureSigned({ signed: tbs.raw, signature, signatureScheme }, issuer, check, WHAT)
  if (serials.some((serial) => equalBytes(serial, certificate.serial)))
    refuse('CERTIFICATE_REVOKED', { where: 'processor' })
}

function serialsIn(entries: DerReader): Uint8Array[] {
  const serials: Uint8Array[] = []
  while (!entries.done) serials.push(readUnsigned(entries.inside(TAG.sequence).take(TAG.integer), WHAT))
  return serials
}
