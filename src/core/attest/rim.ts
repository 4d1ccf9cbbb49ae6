import { sha384 } from '@noble/hashes/sha2.js'
import { fromBase64 } from '../bytes/base64.ts'
import { ascii, equalBytes } from '../bytes/bytes.ts'
import { fromHex } from '../bytes/hex.ts'
import { type ChainRules, verifyChain } from './chain.ts'
import { malformed, refuse } from './refusals.ts'
import { type Certificate, KEY_USAGE, readCertificate } from './x509.ts'
import { attributeOf, canonicalXml, elementsOf, readXml, textOf, type XmlElement } from './xml.ts'

const WHAT = 'golden values'
const SWID = 'http://standards.iso.org/iso/19770/-2/2015/schema.xsd'
const DSIG = 'http://www.w3.org/2000/09/xmldsig#'
const C14N = 'http://www.w3.org/2006/12/xml-c14n11'
const SHA384 = 'http://www.w3.org/2001/04/xmldsig-more#sha384'
const ECDSA = 'http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha384'
const HASHES = 'http://www.w3.org/2001/04/xmlenc#sha384'
const TCG = 'https://trustedcomputinggroup.org/resource/tcg-reference-integrity-manifest-rim-information-model/'
/** NVIDIA's number among manufacturers. */
const NVIDIA = '5703'

const CHAIN_LENGTH = 4
const DIGEST_BYTES = 48
const MOST_MEASUREMENTS = 64

/** Golden values: what the measurements of a device with this driver or firmware must be. */
export interface Rim {
  readonly version: string
  /** Such as `GH100`. */
  readonly product: string
  /** `GPU` or `SWITCH`. */
  readonly edition: string
  /** Only those that count: index from 0 to the digests that are right. */
  readonly active: ReadonlyMap<number, readonly Uint8Array[]>
  readonly chain: readonly Certificate[]
  readonly signature: Uint8Array
  /** SignedInfo in its canonical form. */
  readonly signed: Uint8Array
}

/** Reads a reference integrity manifest in NVIDIA's form, and checks that its digest is that of the rest of the file. */
export function readRim(bytes: Uint8Array): Rim {
  const root = readXml(bytes)
  const [entity, meta, payload, signature, more] = elementsOf(root)
  if (!entity || !meta || !payload || !signature || more) return malformed(WHAT)
  if (!is(root, SWID, 'SoftwareIdentity') || !is(entity, SWID, 'Entity')) malformed(WHAT)
  if (!is(meta, SWID, 'Meta') || attributeOf(meta, 'FirmwareManufacturerId', TCG) !== NVIDIA) malformed(WHAT)
  const named = (name: string) => attributeOf(meta, name) ?? malformed(WHAT)
  const sealed = readSignature(signature)
  if (!equalBytes(sealed.digest, sha384(ascii(canonicalXml(root, signature))))) refuse('RIM_SIGNATURE')
  return {
    version: named('colloquialVersion'),
    product: named('product'),
    edition: named('edition'),
    active: readPayload(payload),
    ...sealed,
  }
}

/** Signed by the vendor, under a root that the policy names. */
export async function verifyRim(rim: Rim, rules: ChainRules): Promise<void> {
  const [leaf] = rim.chain
  if (rim.chain.length !== CHAIN_LENGTH)
    refuse('CHAIN_LENGTH', { where: WHAT, got: rim.chain.length, expected: CHAIN_LENGTH })
  if (leaf!.ca || leaf!.keyUsage !== KEY_USAGE.digitalSignature) refuse('CHAIN_CONSTRAINT', { where: WHAT })
  await verifyChain(rim.chain, rules, 'certificate of golden values')
  const { scheme, spki } = leaf!.key
  if (scheme !== 'p384-sha384' || !(await rules.check(scheme, spki, rim.signed, rim.signature))) refuse('RIM_SIGNATURE')
}

const is = (element: XmlElement | undefined, namespace: string, name: string): element is XmlElement =>
  element?.namespace === namespace && element.name === name

/** The one form of signature there is: the whole file but itself, in the canonical form, SHA-384 and P-384. */
function readSignature(signature: XmlElement): Pick<Rim, 'chain' | 'signature' | 'signed'> & { digest: Uint8Array } {
  const [info, value, keyInfo] = children(signature, 'Signature', 'SignedInfo', 'SignatureValue', 'KeyInfo')
  const [method, algorithm, reference] = children(
    info,
    'SignedInfo',
    'CanonicalizationMethod',
    'SignatureMethod',
    'Reference',
  )
  const [transforms, digestMethod, digestValue] = children(
    reference,
    'Reference',
    'Transforms',
    'DigestMethod',
    'DigestValue',
  )
  const [enveloped, canonical] = children(transforms, 'Transforms', 'Transform', 'Transform')
  const uses: readonly (readonly [XmlElement | undefined, string])[] = [
    [method, C14N],
    [algorithm, ECDSA],
    [enveloped, `${DSIG}enveloped-signature`],
    [canonical, C14N],
    [digestMethod, SHA384],
  ]
  if (uses.some(([one, uri]) => attributeOf(one!, 'Algorithm') !== uri)) malformed(WHAT)
  if (attributeOf(reference!, 'URI') !== '') malformed(WHAT)
  const [data] = children(keyInfo, 'KeyInfo', 'X509Data')
  const certificates = elementsOf(data!)
  if (certificates.length > CHAIN_LENGTH) refuse('CHAIN_LENGTH', { where: WHAT, got: certificates.length })
  return {
    chain: certificates.map((one) => {
      if (!is(one, DSIG, 'X509Certificate')) malformed(WHAT)
      return readCertificate(fromBase64(unwrapped(textOf(one))) ?? malformed(WHAT))
    }),
    signature: fromBase64(textOf(value!)) ?? malformed(WHAT),
    signed: ascii(canonicalXml(info!)),
    digest: fromBase64(textOf(digestValue!)) ?? malformed(WHAT),
  }
}

/** Base64 in lines of 64: only their ends are taken out. */
const unwrapped = (text: string): string => text.replace(/(?<=^|[^\n])\n/g, '')

/** The elements inside of a part of the signature: these and no others. */
function children(parent: XmlElement | undefined, name: string, ...names: readonly string[]): XmlElement[] {
  if (!is(parent, DSIG, name)) return malformed(WHAT)
  const found = elementsOf(parent)
  if (found.length !== names.length || !found.every((one, i) => is(one, DSIG, names[i]!))) malformed(WHAT)
  return found
}

function readPayload(payload: XmlElement): ReadonlyMap<number, readonly Uint8Array[]> {
  const resources = elementsOf(payload)
  if (!is(payload, SWID, 'Payload') || resources.length === 0 || resources.length > MOST_MEASUREMENTS) malformed(WHAT)
  const seen = new Set<number>()
  const active = new Map<number, readonly Uint8Array[]>()
  for (const resource of resources) {
    const { index, counts, digests } = readResource(resource)
    if (seen.has(index)) malformed(WHAT)
    seen.add(index)
    if (counts) active.set(index, digests)
  }
  return active
}

function readResource(resource: XmlElement): { index: number; counts: boolean; digests: readonly Uint8Array[] } {
  const value = (name: string) => attributeOf(resource, name)
  const state = value('active')
  const index = whole(value('index'), MOST_MEASUREMENTS - 1)
  const alternatives = whole(value('alternatives'), 64)
  if (!is(resource, SWID, 'Resource') || value('type') !== 'Measurement' || alternatives === 0) malformed(WHAT)
  if ((state !== 'True' && state !== 'False') || value('size') !== String(DIGEST_BYTES)) malformed(WHAT)
  const hashes = resource.attributes.filter(({ namespace }) => namespace !== '')
  if (hashes.length !== alternatives) malformed(WHAT)
  const digests = Array.from({ length: alternatives }, (_, i) => {
    const text = attributeOf(resource, `Hash${i}`, HASHES)
    return (text === null ? null : fromHex(text, DIGEST_BYTES)) ?? malformed(WHAT)
  })
  return { index, counts: state === 'True', digests }
}

function whole(text: string | null, most: number): number {
  if (text === null || !/^(0|[1-9]\d{0,3})$/.test(text) || Number(text) > most) malformed(WHAT)
  return Number(text)
}
