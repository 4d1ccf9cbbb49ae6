import { sha384 } from '@noble/hashes/sha2.js'
import { concatBytes, equalBytes } from '../bytes/bytes.ts'
import { fromHex, toHex } from '../bytes/hex.ts'
import { sha256 } from '../bytes/sha256.ts'
import { type ChainRules, verifyChain } from './chain.ts'
import { readPem } from './pem.ts'
import { malformed, refuse } from './refusals.ts'
import { type CpuReport, ensureNothing } from './snp.ts'
import { judgeTcb, type QuotedEnclave } from './tdxCollateral.ts'
import { type Certificate, readCertificate } from './x509.ts'

const WHAT = 'TDX quote'
const MOST_BYTES = 16_384
const HEADER_BYTES = 48
/** Version 4 has one body; version 5 says before it, in 2 and 4 bytes, which it is and how long. */
const BODY_BYTES = 584
const BODIES = new Map([
  [2, BODY_BYTES],
  [3, BODY_BYTES + 64],
])
const ENCLAVE_BYTES = 384
const KEY_BYTES = 64
const DIGEST_BYTES = 48
/** After the version: ECDSA with P-256, TDX. */
const HEADER = [0, 2, 0, 0x81, 0, 0, 0]
/** Where fields lie in the body, after the header. */
const AT = {
  seamSigner: 64,
  seamAttributes: 112,
  attributes: 120,
  image: 136,
  /** Up to the registers: what the host says of configuration and owner. */
  hostData: 184,
  registers: 328,
  reportData: 520,
  /** The longer body alone. */
  service: 600,
} as const
/** The host chooses them, and they are in no measurement: it may not take pages away unseen (bit 28), and nothing else is on. */
const ATTRIBUTES = Uint8Array.of(0, 0, 0, 1 << (28 - 24), 0, 0, 0, 0)
/** Kinds of certification data: the report of the quoting enclave, and a chain of certificates. */
const ENCLAVE_DATA = 6
const CHAIN_DATA = 5
/** What stands before the point of a P-256 key. */
const SPKI_HEAD = fromHex('3059301306072a8648ce3d020106082a8648ce3d03010703420004', 27)!

export interface TdxRules extends ChainRules {
  /** States of the TCB that count. */
  readonly allowed: readonly string[]
}

/**
 * Checks a quote of version 4 or 5: signed by a key that Intel's quoting enclave vouches for, which a certified processor
 * vouches for, whose firmware is in an allowed state by Intel's own lists.
 */
export async function verifyTdx(
  { quote, collateral }: { readonly quote: Uint8Array; readonly collateral: Readonly<Record<string, string>> },
  rules: TdxRules,
): Promise<CpuReport> {
  const { signed, body, signature, key, enclave, enclaveSignature, auth, chain } = readQuote(quote)
  const checked = async (spki: Uint8Array, message: Uint8Array, by: Uint8Array) => {
    if (!(await rules.check('p256-sha256', spki, message, by))) refuse('CPU_REPORT_SIGNATURE')
  }
  await verifyChain(chain, rules, 'certificate of the processor')
  await checked(chain[0]!.key.spki, enclave, enclaveSignature)
  const vouched = concatBytes(sha256(key, auth), new Uint8Array(32))
  if (!equalBytes(enclave.subarray(320), vouched)) refuse('CPU_REPORT_SIGNATURE')
  await checked(concatBytes(SPKI_HEAD, key), signed, signature)
  // Debugging, moving and all that is not asked for (attacks 389, 399), and another domain that serves this one.
  const attributes = body.subarray(AT.attributes, AT.attributes + ATTRIBUTES.length)
  const isServed = body.subarray(AT.service).some((byte) => byte !== 0)
  if (isServed || !equalBytes(attributes, ATTRIBUTES)) refuse('CPU_DEBUG')
  ensureNothing(body.subarray(AT.hostData, AT.registers))
  const module = {
    svn: body.subarray(0, 16),
    signer: body.subarray(AT.seamSigner, AT.seamSigner + DIGEST_BYTES),
    attributes: body.subarray(AT.seamAttributes, AT.seamAttributes + 8),
  }
  await judgeTcb({ module, enclave: enclaveOf(enclave), chain }, collateral, rules)
  const image = body.subarray(AT.image, AT.image + DIGEST_BYTES)
  const registers = body.subarray(AT.registers, AT.registers + 4 * DIGEST_BYTES)
  return {
    kind: 'tdx',
    // One value for the image and all that it started.
    measurement: toHex(sha384(concatBytes(image, registers))),
    reportData: body.slice(AT.reportData, AT.reportData + 64),
  }
}

interface Quote {
  readonly signed: Uint8Array
  /** What it says of the domain, the end of what is signed. */
  readonly body: Uint8Array
  readonly signature: Uint8Array
  /** The attestation key, x and y. */
  readonly key: Uint8Array
  readonly enclave: Uint8Array
  readonly enclaveSignature: Uint8Array
  readonly auth: Uint8Array
  readonly chain: readonly Certificate[]
}

function readQuote(quote: Uint8Array): Quote {
  if (quote.length > MOST_BYTES || !HEADER.every((value, i) => quote[i + 1] === value)) malformed(WHAT)
  const outer = new Parts(quote)
  outer.take(HEADER_BYTES)
  const body = outer.take(bodyBytes(quote[0]!, outer))
  const signed = quote.subarray(0, outer.at)
  const data = new Parts(outer.take(outer.number(4)))
  // Some tools hand out a buffer that is longer than the quote.
  if (outer.rest().some((byte) => byte !== 0)) malformed(WHAT)
  const [signature, key] = [data.take(KEY_BYTES), data.take(KEY_BYTES)]
  const certification = new Parts(data.typed(ENCLAVE_DATA))
  data.end()
  const [enclave, enclaveSignature] = [certification.take(ENCLAVE_BYTES), certification.take(KEY_BYTES)]
  const auth = certification.take(certification.number(2))
  const chain = readPem(certification.typed(CHAIN_DATA), 3).map(readCertificate)
  certification.end()
  if (chain.length !== 3) refuse('CHAIN_LENGTH', { where: 'processor', got: chain.length, expected: 3 })
  return { signed, body, signature, key, enclave, enclaveSignature, auth, chain }
}

function bodyBytes(version: number, parts: Parts): number {
  if (version === 4) return BODY_BYTES
  const [kind, bytes] = version === 5 ? [parts.number(2), parts.number(4)] : malformed(WHAT)
  return BODIES.get(kind) === bytes ? bytes : malformed(WHAT)
}

const enclaveOf = (report: Uint8Array): QuotedEnclave => ({
  miscSelect: report.subarray(16, 20),
  attributes: report.subarray(48, 64),
  signer: report.subarray(128, 160),
  product: report[256]! + 256 * report[257]!,
  svn: report[258]! + 256 * report[259]!,
})

/** Parts of a quote one after the other, lengths little-endian. */
class Parts {
  readonly #bytes: Uint8Array
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  get at(): number {
    return this.#at
  }

  take(length: number): Uint8Array {
    if (length > this.#bytes.length - this.#at) malformed(WHAT)
    this.#at += length
    return this.#bytes.subarray(this.#at - length, this.#at)
  }

  number(length: number): number {
    return this.take(length).reduceRight((sum, byte) => 256 * sum + byte, 0)
  }

  typed(type: number): Uint8Array {
    if (this.number(2) !== type) malformed(WHAT)
    return this.take(this.number(4))
  }

  rest(): Uint8Array {
    return this.take(this.#bytes.length - this.#at)
  }

  end(): void {
    if (this.#at !== this.#bytes.length) malformed(WHAT)
  }
}
