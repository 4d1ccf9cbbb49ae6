import { Buffer } from 'node:buffer'
import { createHash } from 'node:crypto'
import { type Holder, issue, signRaw } from './testAuthority.ts'
import { digest } from './testNvidia.ts'

/** Who signs golden values of the made-up vendor: leaf, two issuers, root. */
export function makeRimSigner(wishes: { readonly notAfterMs?: number } = {}): readonly Holder[] {
  const root = issue({ name: 'Test CoRIM signing Root CA', ca: true })
  const second = issue({ name: 'Test Reference Value CA', ca: true }, root)
  const third = issue({ name: 'Test Reference Value L3', ca: true, pathLength: 0 }, second)
  return [issue({ name: 'Test RIM L4 Signer', ...wishes }, third), third, second, root]
}

export interface RimWishes {
  readonly version: string
  readonly product?: string
  readonly edition?: string
  /** Active indexes to the digests that are right. */
  readonly golden: Readonly<Record<number, readonly Uint8Array[]>>
}

const SWID = 'http://standards.iso.org/iso/19770/-2/2015/schema.xsd'
const DSIG = 'http://www.w3.org/2000/09/xmldsig#'
const C14N = 'http://www.w3.org/2006/12/xml-c14n11'
const MORE = 'http://www.w3.org/2001/04/xmldsig-more#'
const TCG = 'https://trustedcomputinggroup.org/resource/tcg-reference-integrity-manifest-rim-information-model/'

const ROOT = `<SoftwareIdentity xmlns="${SWID}" xmlns:ns0="${SWID}" xmlns:ns2="http://www.w3.org/2001/04/xmlenc#sha384" name="GH100" version="1.0">`
const END = '</SoftwareIdentity>'

/** Golden values in the form of NVIDIA's. The text before the signature is written in canonical form to begin with. */
export function makeRim(
  signer: readonly Holder[],
  { version, product = 'GH100', edition = 'GPU', golden }: RimWishes,
): Buffer {
  const resources = Array.from({ length: 64 }, (_, index) => {
    const digests = golden[index] ?? [Buffer.alloc(48)]
    const hashes = digests
      .map((one, i) => ` ns2:Hash${i}="${Buffer.from(one).toString('hex')}"`)
      .sort()
      .join('')
    const active = golden[index] ? 'True' : 'False'
    return `<ns0:Resource active="${active}" alternatives="${digests.length}" index="${index}" name="M_${index}" size="48" type="Measurement"${hashes}></ns0:Resource>`
  })
  const body = [
    '',
    '<ns0:Entity name="Test"></ns0:Entity>',
    `<ns0:Meta xmlns:ns1="${TCG}" colloquialVersion="${version}" edition="${edition}" product="${product}" ns1:FirmwareManufacturerId="5703"></ns0:Meta>`,
    `<ns0:Payload>${resources.join('\n')}</ns0:Payload>`,
    '',
  ].join('\n')
  const digestValue = createHash('sha384')
    .update(ROOT + body + END)
    .digest('base64')
  const info = (declared: string) =>
    `<ds:SignedInfo${declared}>` +
    `<ds:CanonicalizationMethod Algorithm="${C14N}"></ds:CanonicalizationMethod>` +
    `<ds:SignatureMethod Algorithm="${MORE}ecdsa-sha384"></ds:SignatureMethod>` +
    '<ds:Reference URI=""><ds:Transforms>' +
    `<ds:Transform Algorithm="${DSIG}enveloped-signature"></ds:Transform><ds:Transform Algorithm="${C14N}"></ds:Transform>` +
    `</ds:Transforms><ds:DigestMethod Algorithm="${MORE}sha384"></ds:DigestMethod>` +
    `<ds:DigestValue>${digestValue}</ds:DigestValue></ds:Reference></ds:SignedInfo>`
  const inScope = ` xmlns="${SWID}" xmlns:ds="${DSIG}" xmlns:ns0="${SWID}" xmlns:ns2="http://www.w3.org/2001/04/xmlenc#sha384"`
  const value = signRaw(signer[0]!.key, Buffer.from(info(inScope))).toString('base64')
  const certificates = signer.map(({ certificate }) => {
    const lines = certificate.toString('base64').replace(/.{64}/g, '$&\n')
    return `<ds:X509Certificate>${lines}\n</ds:X509Certificate>`.replace('\n\n', '\n')
  })
  const signature =
    `<ds:Signature xmlns:ds="${DSIG}">${info('')}<ds:SignatureValue>${value}</ds:SignatureValue>` +
    `<ds:KeyInfo><ds:X509Data>${certificates.join('')}</ds:X509Data></ds:KeyInfo></ds:Signature>`
  return Buffer.from(ROOT + body + signature + END)
}

const sharedOf = (name: string, indexes: readonly number[]) =>
  Object.fromEntries(indexes.map((index) => [index, [digest(`${name} ${index}`)]]))

/** Golden values of the made-up GPU: which file speaks of which measurement is as NVIDIA has it. */
export const DRIVER_GOLDEN = sharedOf('driver', [7, ...Array.from({ length: 20 }, (_, i) => 21 + i)])
export const VBIOS_GOLDEN = sharedOf('vbios', [0, 1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12])
export const SWITCH_GOLDEN = sharedOf(
  'switch',
  Array.from({ length: 31 }, (_, i) => i),
)

/** What a device measures that runs just this. */
export const measuring = (...golden: readonly Readonly<Record<number, readonly Uint8Array[]>>[]) =>
  Object.fromEntries(golden.flatMap((one) => Object.entries(one).map(([index, [first]]) => [index, first!])))
