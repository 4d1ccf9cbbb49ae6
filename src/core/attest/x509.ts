import { equalBytes } from '../bytes/bytes.ts'
import { toHex } from '../bytes/hex.ts'
import { toMillis } from '../units/instants.ts'
import {
  context,
  type Der,
  DerReader,
  onlyValue,
  opened,
  readBits,
  readBoolean,
  readOid,
  readSmall,
  readUnsigned,
  TAG,
} from './der.ts'
import { malformed } from './refusals.ts'
import type { SignatureScheme } from './signatureChecker.ts'

const WHAT = 'certificate'

/** A certificate that says more is refused unread. */
const MOST_BYTES = 8192

const EXTENSION = {
  keyUsage: '2.5.29.15',
  basicConstraints: '2.5.29.19',
  extendedKeyUsage: '2.5.29.37',
} as const

const KNOWN_CRITICAL: readonly string[] = Object.values(EXTENSION)

const COMMON_NAME = '2.5.4.3'

const KEYS = {
  '1.2.840.10045.2.1 1.2.840.10045.3.1.7': { scheme: 'p256-sha256', bytes: 65 },
  '1.2.840.10045.2.1 1.3.132.0.34': { scheme: 'p384-sha384', bytes: 97 },
} as const satisfies Record<string, { scheme: SignatureScheme; bytes: number }>

const RSA = '1.2.840.113549.1.1.1'
/** RSA-PSS as AMD signs: SHA-384 for both, a salt of 48 bytes. */
const PSS_SHA384 =
  '304606092a864886f70d01010a3039a00f300d06096086480165030402020500a11c301a06092a864886f70d010108300d06096086480165030402020500a203020130a303020101'

const SIGNATURES: Readonly<Record<string, SignatureScheme>> = {
  '300a06082a8648ce3d040302': 'p256-sha256',
  '300a06082a8648ce3d040303': 'p384-sha384',
  [PSS_SHA384]: 'rsa-pss-sha384',
}

/** The scheme of an AlgorithmIdentifier, DER; null for any other. */
export const schemeOf = (algorithm: Uint8Array): SignatureScheme | null => SIGNATURES[toHex(algorithm)] ?? null

/** A public key as certificates carry it, and how it signs. */
export interface PublicKey {
  readonly scheme: SignatureScheme
  /** SubjectPublicKeyInfo, DER. */
  readonly spki: Uint8Array
  /** The key alone: for ECDSA the uncompressed point. */
  readonly bits: Uint8Array
}

export interface Certificate {
  readonly raw: Uint8Array
  /** What the issuer signed. */
  readonly signed: Uint8Array
  readonly serial: Uint8Array
  readonly issuer: Uint8Array
  readonly subject: Uint8Array
  readonly commonName: string
  readonly notBeforeMs: number
  readonly notAfterMs: number
  readonly key: PublicKey
  /** By object identifier. */
  readonly extensions: ReadonlyMap<string, Uint8Array>
  /** Bits of key usage from the left, or null where anything is allowed. */
  readonly keyUsage: number | null
  readonly ca: boolean
  readonly pathLength: number
  readonly extendedKeyUsage: readonly string[]
  readonly signatureScheme: SignatureScheme
  /** ECDSA as r || s. */
  readonly signature: Uint8Array
}

export const KEY_USAGE = { digitalSignature: 0x80, certSign: 0x04, crlSign: 0x02 } as const

/** Reads one certificate of X.509 version 3, with every byte accounted for. */
export function readCertificate(bytes: Uint8Array): Certificate {
  if (bytes.length > MOST_BYTES) malformed(WHAT)
  const outer = opened(bytes, TAG.sequence, WHAT)
  const tbs = outer.take(TAG.sequence)
  const algorithm = outer.take(TAG.sequence)
  const bits = readBits(outer.take(TAG.bitString), WHAT)
  outer.end()
  const body = new DerReader(tbs.body, WHAT)
  if (readSmall(onlyValue(body.take(context(0)).body, TAG.integer, WHAT), WHAT) !== 2) malformed(WHAT)
  const serial = readUnsigned(body.take(TAG.integer), WHAT)
  if (!equalBytes(body.take(TAG.sequence).raw, algorithm.raw)) malformed(WHAT)
  const issuer = body.take(TAG.sequence).raw
  const validity = body.inside(TAG.sequence)
  const [notBeforeMs, notAfterMs] = [readTime(validity.any()), readTime(validity.any())]
  validity.end()
  const subject = body.take(TAG.sequence)
  const key = readPublicKey(body.take(TAG.sequence).raw)
  const extensions = readExtensions(body.inside(context(3)))
  body.end()
  const scheme = schemeOf(algorithm.raw) ?? malformed(WHAT)
  return {
    raw: bytes,
    signed: tbs.raw,
    serial,
    issuer,
    subject: subject.raw,
    commonName: commonNameOf(subject),
    notBeforeMs,
    notAfterMs,
    key,
    ...usesOf(extensions),
    extensions,
    signatureScheme: scheme,
    signature: signatureIn(bits, scheme),
  }
}

/** A signature as checkers take it: ECDSA as r || s. */
export const signatureIn = (bits: Uint8Array, scheme: SignatureScheme): Uint8Array =>
  scheme === 'rsa-pss-sha384' ? bits : rawSignature(bits, scheme)

/** A key that we know how to check with. */
export function readPublicKey(spki: Uint8Array): PublicKey {
  const fields = opened(spki, TAG.sequence, 'public key')
  const algorithm = fields.inside(TAG.sequence)
  const name = readOid(algorithm.take(TAG.oid), 'public key')
  const bits = readBits(fields.take(TAG.bitString), 'public key')
  fields.end()
  if (name === RSA) {
    algorithm.take(TAG.null)
    algorithm.end()
    return { scheme: 'rsa-pss-sha384', spki, bits }
  }
  const curve = `${name} ${readOid(algorithm.take(TAG.oid), 'public key')}`
  algorithm.end()
  if (!Object.hasOwn(KEYS, curve)) malformed('public key')
  const { scheme, bytes } = KEYS[curve as keyof typeof KEYS]
  return bits.length === bytes && bits[0] === 4 ? { scheme, spki, bits } : malformed('public key')
}

const HALF = { 'p256-sha256': 32, 'p384-sha384': 48 } as const

/** Two numbers in DER, as X.509 writes them, to r || s. */
export function rawSignature(der: Uint8Array, scheme: keyof typeof HALF): Uint8Array {
  const numbers = opened(der, TAG.sequence, 'signature')
  const out = new Uint8Array(2 * HALF[scheme])
  for (const end of [HALF[scheme], out.length]) {
    const value = readUnsigned(numbers.take(TAG.integer), 'signature')
    if (value.length > HALF[scheme]) malformed('signature')
    out.set(value, end - value.length)
  }
  numbers.end()
  return out
}

/** Times of X.509: two digits of a year before 2050, four from then on; always UTC with seconds. */
export function readTime({ tag, body }: Der): number {
  const digits = new TextDecoder('latin1').decode(body)
  const long = tag === TAG.generalizedTime
  if (!(long ? /^\d{14}Z$/ : /^\d{12}Z$/).test(digits) || (!long && tag !== TAG.utcTime)) malformed('time')
  const full = long ? digits : `${digits < '50' ? '20' : '19'}${digits}`
  const [, year, month, day, hour, minute, second] = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/.exec(full)!
  const millis = toMillis(`${year}-${month}-${day}T${hour}:${minute}:${second}.000Z`)
  return Number.isFinite(millis) ? millis : malformed('time')
}

function commonNameOf({ body }: Der): string {
  const parts = new DerReader(body, WHAT)
  let name = ''
  while (!parts.done) {
    const pair = opened(parts.take(TAG.set).body, TAG.sequence, WHAT)
    const isName = readOid(pair.take(TAG.oid), WHAT) === COMMON_NAME
    const text = new TextDecoder('latin1').decode(pair.any().body)
    pair.end()
    if (isName) name = text
  }
  return name
}

function readExtensions(outer: DerReader): ReadonlyMap<string, Uint8Array> {
  const list = outer.inside(TAG.sequence)
  outer.end()
  const found = new Map<string, Uint8Array>()
  while (!list.done) {
    const extension = list.inside(TAG.sequence)
    const name = readOid(extension.take(TAG.oid), WHAT)
    const flag = extension.optional(TAG.boolean)
    const critical = flag !== null && readBoolean(flag, WHAT)
    // What must not be ignored and is not known here is refused, as is what is said twice.
    if (found.has(name) || (critical && !KNOWN_CRITICAL.includes(name))) malformed(WHAT)
    found.set(name, extension.take(TAG.octetString).body)
    extension.end()
  }
  return found
}

function usesOf(
  extensions: ReadonlyMap<string, Uint8Array>,
): Pick<Certificate, 'keyUsage' | 'ca' | 'pathLength' | 'extendedKeyUsage'> {
  const usage = extensions.get(EXTENSION.keyUsage)
  const purposes = extensions.get(EXTENSION.extendedKeyUsage)
  return {
    keyUsage: usage === undefined ? null : (onlyValue(usage, TAG.bitString, WHAT).body[1] ?? 0),
    ...constraintsOf(extensions.get(EXTENSION.basicConstraints)),
    extendedKeyUsage: purposes === undefined ? [] : readOids(opened(purposes, TAG.sequence, WHAT)),
  }
}

function constraintsOf(value: Uint8Array | undefined): Pick<Certificate, 'ca' | 'pathLength'> {
  if (value === undefined) return { ca: false, pathLength: 0 }
  const fields = opened(value, TAG.sequence, WHAT)
  const flag = fields.optional(TAG.boolean)
  const most = fields.optional(TAG.integer)
  fields.end()
  return {
    ca: flag !== null && readBoolean(flag, WHAT),
    pathLength: most === null ? Number.POSITIVE_INFINITY : readSmall(most, WHAT),
  }
}

function readOids(list: DerReader): string[] {
  const found: string[] = []
  while (!list.done) found.push(readOid(list.take(TAG.oid), WHAT))
  return found
}
