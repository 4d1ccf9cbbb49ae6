import { sha1 } from '@noble/hashes/legacy.js'
import { sha256, sha384 } from '@noble/hashes/sha2.js'
import { equalBytes } from '../bytes/bytes.ts'
import { toHex } from '../bytes/hex.ts'
import { toInstant } from '../units/instants.ts'
import { type ChainRules, ensureSigned, ensureTime } from './chain.ts'
import { context, type Der, DerReader, onlyValue, opened, readBits, readOid, readUnsigned, TAG } from './der.ts'
import { malformed, refuse } from './refusals.ts'
import { type Certificate, rawSignature, readCertificate, readTime } from './x509.ts'

const WHAT = 'revocation answer'
const MOST_BYTES = 8192
const BASIC = '1.3.6.1.5.5.7.48.1.1'
const OCSP_SIGNING = '1.3.6.1.5.5.7.3.9'
const ECDSA_SHA384 = '300a06082a8648ce3d040303'
/** The only reason that can be taken back. */
const ON_HOLD = 6

const HASHES: Readonly<Record<string, (bytes: Uint8Array) => Uint8Array>> = {
  '1.3.14.3.2.26': sha1,
  '2.16.840.1.101.3.4.2.1': sha256,
  '2.16.840.1.101.3.4.2.2': sha384,
}

/** One stored answer: what was said of which certificate, when, and who signed it. */
export interface OcspAnswer {
  readonly hash: (bytes: Uint8Array) => Uint8Array
  readonly issuerName: Uint8Array
  readonly issuerKey: Uint8Array
  readonly serial: Uint8Array
  readonly status: 'good' | 'hold' | 'revoked' | 'unknown'
  readonly thisUpdateMs: number
  readonly nextUpdateMs: number
  readonly signed: Uint8Array
  readonly signature: Uint8Array
  readonly responder: Certificate
}

export interface OcspRules extends ChainRules {
  readonly maxAgeSeconds: number
  readonly skewSeconds: number
  readonly allowOnHold: boolean
}

/** Reads an answer about one certificate, signed by a responder whose certificate it carries. */
export function readOcsp(bytes: Uint8Array): OcspAnswer {
  if (bytes.length > MOST_BYTES) malformed(WHAT)
  const outer = opened(bytes, TAG.sequence, WHAT)
  const [status] = outer.take(TAG.enumerated).body
  const typed = opened(outer.take(context(0)).body, TAG.sequence, WHAT)
  outer.end()
  if (status !== 0 || readOid(typed.take(TAG.oid), WHAT) !== BASIC) malformed(WHAT)
  const basic = opened(typed.take(TAG.octetString).body, TAG.sequence, WHAT)
  typed.end()
  const data = basic.take(TAG.sequence)
  if (toHex(basic.take(TAG.sequence).raw) !== ECDSA_SHA384) malformed(WHAT)
  const signature = rawSignature(readBits(basic.take(TAG.bitString), WHAT), 'p384-sha384')
  const certificates = opened(basic.take(context(0)).body, TAG.sequence, WHAT)
  basic.end()
  const responder = readCertificate(certificates.take(TAG.sequence).raw)
  certificates.end()
  return { ...readData(data), signed: data.raw, signature, responder }
}

function readData({ body }: Der): Omit<OcspAnswer, 'signed' | 'signature' | 'responder'> {
  const fields = new DerReader(body, WHAT)
  // Who answers, by name or by key: the signature says so already.
  if (fields.optional(context(2)) === null) fields.take(context(1))
  readTime(fields.take(TAG.generalizedTime))
  const answers = fields.inside(TAG.sequence)
  // Extensions: a nonce of whoever asked.
  fields.optional(context(1))
  fields.end()
  const answer = answers.inside(TAG.sequence)
  answers.end()
  const id = answer.inside(TAG.sequence)
  const algorithm = id.inside(TAG.sequence)
  const hash = HASHES[readOid(algorithm.take(TAG.oid), WHAT)] ?? malformed(WHAT)
  const [issuerName, issuerKey] = [id.take(TAG.octetString).body, id.take(TAG.octetString).body]
  const serial = readUnsigned(id.take(TAG.integer), WHAT)
  id.end()
  const status = statusOf(answer.any())
  const thisUpdateMs = readTime(answer.take(TAG.generalizedTime))
  const next = answer.take(context(0))
  answer.optional(context(1))
  answer.end()
  const nextUpdateMs = readTime(onlyValue(next.body, TAG.generalizedTime, WHAT))
  return { hash, issuerName, issuerKey, serial, status, thisUpdateMs, nextUpdateMs }
}

function statusOf({ tag, body }: Der): OcspAnswer['status'] {
  if (tag === 0x80 && body.length === 0) return 'good'
  if (tag === 0x82 && body.length === 0) return 'unknown'
  if (tag !== context(1)) malformed(WHAT)
  const fields = new DerReader(body, WHAT)
  readTime(fields.take(TAG.generalizedTime))
  const reason = fields.optional(context(0))
  fields.end()
  return reason && onlyValue(reason.body, TAG.enumerated, WHAT).body[0] === ON_HOLD ? 'hold' : 'revoked'
}

/** How many certificates of a chain, from `first` up to the root's, nobody answered for; refuses what was revoked. */
export async function unansweredIn(
  chain: readonly Certificate[],
  first: number,
  answers: readonly OcspAnswer[],
  rules: OcspRules,
): Promise<number> {
  let missing = 0
  for (let i = first; i < chain.length - 1; i++) {
    const [certificate, issuer] = [chain[i]!, chain[i + 1]!]
    const about = answers.filter((answer) => isAbout(answer, certificate, issuer))
    const fresh = about.filter((answer) => !staleness(answer, rules))
    if (about.length > 0 && fresh.length === 0)
      refuse('OCSP_STALE', { where: `certificate ${i}`, got: staleness(about[0]!, rules)! })
    if (about.length === 0) missing++
    for (const answer of fresh) await ensureGood(answer, issuer, rules, `certificate ${i}`)
    // At any time: nobody takes that back, and nobody knows since when the key was in other hands (attacks 260, 390).
    for (const answer of about.filter(({ status }) => status === 'revoked'))
      await ensureGood(answer, issuer, { ...rules, atMs: answer.thisUpdateMs }, `certificate ${i}`)
  }
  return missing
}

/** Whether it says anything of a certificate of this chain, from `first` on. */
export const isAboutOne = (answer: OcspAnswer, chain: readonly Certificate[], first: number): boolean =>
  chain.some((certificate, i) => i >= first && i < chain.length - 1 && isAbout(answer, certificate, chain[i + 1]!))

const isAbout = (
  { hash, issuerName, issuerKey, serial }: OcspAnswer,
  certificate: Certificate,
  issuer: Certificate,
): boolean =>
  equalBytes(serial, certificate.serial) &&
  equalBytes(issuerName, hash(issuer.subject)) &&
  equalBytes(issuerKey, hash(issuer.key.bits))

/** Why an answer cannot be used at this time, or null. */
function staleness({ thisUpdateMs, nextUpdateMs }: OcspAnswer, rules: OcspRules): string | null {
  const skewMs = 1000 * rules.skewSeconds
  const early = rules.atMs < thisUpdateMs - skewMs
  const late = rules.atMs > Math.min(nextUpdateMs, thisUpdateMs + 1000 * rules.maxAgeSeconds) + skewMs
  return early || late ? toInstant(thisUpdateMs) : null
}

/** Signed by a responder that the issuer of the certificate itself appointed for this. */
async function ensureGood(answer: OcspAnswer, issuer: Certificate, rules: OcspRules, where: string): Promise<void> {
  const { responder, status } = answer
  const facts = { where: `revocation answer for ${where}` }
  ensureTime(responder, rules.atMs, facts.where)
  const appointed = responder.extendedKeyUsage.includes(OCSP_SIGNING) && equalBytes(responder.issuer, issuer.subject)
  if (!appointed) refuse('CHAIN_CONSTRAINT', facts)
  await ensureSigned(responder, issuer, rules.check, facts.where)
  await ensureSigned({ ...answer, signatureScheme: 'p384-sha384' }, responder, rules.check, facts.where)
  if (status === 'good' || (status === 'hold' && rules.allowOnHold)) return
  refuse('CERTIFICATE_REVOKED', { where, got: status })
}
