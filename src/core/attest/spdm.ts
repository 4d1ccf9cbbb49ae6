import { malformed } from './refusals.ts'

/** SPDM 1.1: the request GET_MEASUREMENTS with the verifier's nonce, then the answer MEASUREMENTS with its signature. */
export interface SpdmReport {
  /** The verifier's. */
  readonly nonce: Uint8Array
  /** SHA-384 of what runs on the device, by index from 1. */
  readonly measurements: ReadonlyMap<number, Uint8Array>
  /** The vendor's own fields by number. */
  readonly fields: ReadonlyMap<number, Uint8Array>
  /** Request and answer without the signature: what the device signed. */
  readonly signed: Uint8Array
  /** r || s. */
  readonly signature: Uint8Array
}

/** Field numbers of NVIDIA's opaque data. */
export const FIELD = {
  driverVersion: 3,
  gpuInfo: 4,
  vbiosVersion: 6,
  nvdec0: 11,
  chipSku: 15,
  project: 17,
  projectSku: 18,
  fwid: 20,
  protectedPcie: 21,
  /** Of a GPU: the switches at its links. Of a switch: itself. */
  pdi: 22,
  switchGpus: 26,
  opaqueVersion: 34,
  chipInfo: 35,
  featureFlag: 36,
} as const

/** NVML hands out at most so many bytes. */
export const MOST_REPORT_BYTES = 0x2000
const SIGNATURE_BYTES = 96
const NONCE_BYTES = 32
const DIGEST_BYTES = 48
const BLOCK_BYTES = 7 + DIGEST_BYTES
/** Version 1.1, GET_MEASUREMENTS, signature wanted, all blocks. */
const REQUEST = [0x11, 0xe0, 0x01, 0xff]
const REQUEST_BYTES = REQUEST.length + NONCE_BYTES + 1
/** Version 1.1, MEASUREMENTS, two parameters that are zero. */
const RESPONSE = [0x11, 0x60, 0x00, 0x00]

/** Every byte of a report has its meaning: one too many or too few is refused. */
export function readReport(bytes: Uint8Array): SpdmReport {
  if (bytes.length > MOST_REPORT_BYTES) malformed('report')
  const cursor = new Cursor(bytes)
  cursor.expect(REQUEST)
  const nonce = cursor.take(NONCE_BYTES)
  cursor.expect([0])
  if (cursor.at !== REQUEST_BYTES) malformed('report')
  cursor.expect(RESPONSE)
  const blocks = cursor.number(1)
  const measurements = readBlocks(cursor.take(cursor.number(3)), blocks)
  cursor.take(NONCE_BYTES)
  const fields = readFields(cursor.take(cursor.number(2)))
  const signed = bytes.subarray(0, cursor.at)
  const signature = cursor.take(SIGNATURE_BYTES)
  if (cursor.at !== bytes.length) malformed('report')
  return { nonce, measurements, fields, signed, signature }
}

function readBlocks(record: Uint8Array, count: number): ReadonlyMap<number, Uint8Array> {
  if (record.length !== count * BLOCK_BYTES) malformed('measurements')
  const cursor = new Cursor(record)
  const found = new Map<number, Uint8Array>()
  for (let index = 1; index <= count; index++) {
    // Index, DMTF, size of what follows, type of value, size of the digest.
    cursor.expect([index, 1, DIGEST_BYTES + 3, 0])
    cursor.take(1)
    cursor.expect([DIGEST_BYTES, 0])
    found.set(index, cursor.take(DIGEST_BYTES))
  }
  return found
}

function readFields(opaque: Uint8Array): ReadonlyMap<number, Uint8Array> {
  const cursor = new Cursor(opaque)
  const found = new Map<number, Uint8Array>()
  while (cursor.at < opaque.length) {
    const name = cursor.number(2)
    if (found.has(name)) malformed('vendor fields')
    found.set(name, cursor.take(cursor.number(2)))
  }
  return found
}

/** Walks over little-endian fields of a report. */
class Cursor {
  readonly #bytes: Uint8Array
  at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  take(length: number): Uint8Array {
    const end = this.at + length
    if (end > this.#bytes.length) malformed('report')
    const taken = this.#bytes.subarray(this.at, end)
    this.at = end
    return taken
  }

  number(length: number): number {
    return this.take(length).reduceRight((sum, byte) => 256 * sum + byte, 0)
  }

  expect(values: readonly number[]): void {
    const taken = this.take(values.length)
    if (!values.every((value, i) => taken[i] === value)) malformed('report')
  }
}

/** Text of a vendor's field: printable, ended by a zero or by its length. */
export function textField(fields: SpdmReport['fields'], name: number): string | null {
  const value = fields.get(name)
  if (value === undefined) return null
  const text = new TextDecoder('latin1').decode(value).replace(/\0+$/, '')
  return /^[\x20-\x7e]{0,64}$/.test(text) ? text : malformed('vendor fields')
}
