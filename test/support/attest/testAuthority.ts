import { Buffer } from 'node:buffer'
import {
  constants,
  createHash,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto'
import { bits, context, der, generalTime, integer, octets, oid, sequence } from './writeDer.ts'

/** A key of a made-up vendor, and the certificate that names it. */
export interface Holder {
  readonly key: KeyObject
  readonly spki: Buffer
  readonly name: Buffer
  readonly certificate: Buffer
}

export interface CertificateWishes {
  readonly name: string
  readonly ca?: boolean
  readonly pathLength?: number
  /** The second byte of the bit string. */
  readonly keyUsage?: number
  readonly serial?: Uint8Array
  readonly notBeforeMs?: number
  readonly notAfterMs?: number
  readonly purposes?: readonly string[]
  /** Object identifier to value, and whether it is critical. */
  readonly more?: Readonly<Record<string, { readonly value: Uint8Array; readonly critical?: boolean }>>
  readonly kind?: Kind
}

type Kind = 'p384' | 'p256' | 'rsa'

const FOREVER = Date.UTC(9999, 11, 31, 23, 59, 59)

const PSS = Buffer.from(
  '304606092a864886f70d01010a3039a00f300d06096086480165030402020500a11c301a06092a864886f70d010108300d06096086480165030402020500a203020130a303020101',
  'hex',
)
const ALGORITHMS: Readonly<Record<Kind, Buffer>> = {
  p256: sequence(oid('1.2.840.10045.4.3.2')),
  p384: sequence(oid('1.2.840.10045.4.3.3')),
  rsa: PSS,
}

const kindOf = (key: KeyObject): Kind =>
  key.asymmetricKeyType === 'rsa' ? 'rsa' : key.asymmetricKeyDetails?.namedCurve === 'prime256v1' ? 'p256' : 'p384'

/** As certificates are signed: ECDSA in DER. */
export function signDer(key: KeyObject, message: Uint8Array): Buffer {
  const kind = kindOf(key)
  if (kind === 'rsa') return sign('sha384', message, { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 48 })
  return sign(kind === 'p256' ? 'sha256' : 'sha384', message, { key, dsaEncoding: 'der' })
}

/** As reports are signed: r || s. */
export const signRaw = (key: KeyObject, message: Uint8Array): Buffer =>
  sign(kindOf(key) === 'p256' ? 'sha256' : 'sha384', message, { key, dsaEncoding: 'ieee-p1363' })

export const algorithmOf = (key: KeyObject): Buffer => ALGORITHMS[kindOf(key)]

function newKey(kind: Kind): { publicKey: KeyObject; privateKey: KeyObject } {
  // Small for speed: a test root is no secret.
  if (kind === 'rsa') return generateKeyPairSync('rsa', { modulusLength: 2048 })
  return generateKeyPairSync('ec', { namedCurve: kind === 'p256' ? 'prime256v1' : 'secp384r1' })
}

/** A certificate as wished; without an issuer it signs itself. */
export function issue(wishes: CertificateWishes, issuer: Holder | null = null): Holder {
  const { publicKey, privateKey } = newKey(wishes.kind ?? 'p384')
  const spki = publicKey.export({ format: 'der', type: 'spki' })
  const name = nameOf(wishes.name)
  const signer = issuer?.key ?? privateKey
  const tbs = sequence(
    context(0, integer(2)),
    integer(wishes.serial ?? randomBytes(8)),
    algorithmOf(signer),
    issuer?.name ?? name,
    sequence(generalTime(wishes.notBeforeMs ?? Date.UTC(2020, 0)), generalTime(wishes.notAfterMs ?? FOREVER)),
    name,
    spki,
    context(3, sequence(...extensionsOf(wishes))),
  )
  const certificate = sequence(tbs, algorithmOf(signer), bits(signDer(signer, tbs)))
  return { key: privateKey, spki, name, certificate }
}

const nameOf = (text: string): Buffer => sequence(der(0x31, sequence(oid('2.5.4.3'), der(0x0c, Buffer.from(text)))))

function extensionsOf({ ca = false, pathLength, keyUsage, purposes = [], more = {} }: CertificateWishes): Buffer[] {
  const flag = der(0x01, Buffer.of(0xff))
  const extension = (name: string, value: Uint8Array, critical = false) =>
    sequence(oid(name), ...(critical ? [flag] : []), octets(value))
  const most = pathLength === undefined ? [] : [integer(pathLength)]
  return [
    extension('2.5.29.15', der(0x03, Buffer.of(0, keyUsage ?? (ca ? 0x06 : 0x80))), true),
    ...(ca ? [extension('2.5.29.19', sequence(flag, ...most), true)] : []),
    ...(purposes.length > 0 ? [extension('2.5.29.37', sequence(...purposes.map(oid)))] : []),
    ...Object.entries(more).map(([name, { value, critical }]) => extension(name, value, critical)),
  ]
}

/** How a policy names a root. */
export const pinOf = ({ spki }: Holder): string => createHash('sha256').update(spki).digest('hex')

export const pemOf = (holders: readonly Holder[]): Buffer =>
  Buffer.from(
    holders
      .map(({ certificate }) => {
        const lines = certificate.toString('base64').replace(/.{64}(?=.)/g, '$&\n')
        return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`
      })
      .join(''),
  )

const MONTH = 30 * 86_400_000

/** A list of revoked certificates, signed by their issuer; it is good for a month. */
export function revokedBy(issuer: Holder, revoked: readonly Holder[], from: number): Buffer {
  const entries = revoked.map(({ certificate }) =>
    sequence(integer(Buffer.from(new X509Certificate(certificate).serialNumber, 'hex')), generalTime(from)),
  )
  const tbs = sequence(
    integer(1),
    algorithmOf(issuer.key),
    issuer.name,
    generalTime(from),
    generalTime(from + MONTH),
    ...(entries.length > 0 ? [sequence(...entries)] : []),
  )
  return sequence(tbs, algorithmOf(issuer.key), bits(signDer(issuer.key, tbs)))
}
