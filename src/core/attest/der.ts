import { malformed } from './refusals.ts'

export const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  null: 0x05,
  oid: 0x06,
  enumerated: 0x0a,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const

/** [n], constructed. */
export const context = (n: number): number => 0xa0 | n

/** One value of DER: where it lies, with its head and without. */
export interface Der {
  readonly tag: number
  readonly raw: Uint8Array
  readonly body: Uint8Array
}

/** Reads the values of DER that lie one after the other: lengths in their shortest form, nothing left over. */
export class DerReader {
  readonly #bytes: Uint8Array
  readonly #what: string
  #at = 0

  constructor(bytes: Uint8Array, what: string) {
    this.#bytes = bytes
    this.#what = what
  }

  get done(): boolean {
    return this.#at === this.#bytes.length
  }

  /** The tag of the next value, or null at the end. */
  get peek(): number | null {
    return this.#bytes[this.#at] ?? null
  }

  any(): Der {
    const from = this.#at
    const tag = this.#byte()
    // Tags beyond 30 take more bytes; nothing we read has one.
    if ((tag & 0x1f) === 0x1f) malformed(this.#what)
    const length = this.#length()
    const start = this.#at
    if (length > this.#bytes.length - start) malformed(this.#what)
    this.#at += length
    return { tag, raw: this.#bytes.subarray(from, this.#at), body: this.#bytes.subarray(start, this.#at) }
  }

  take(tag: number): Der {
    const value = this.any()
    return value.tag === tag ? value : malformed(this.#what)
  }

  /** Null where the next value is another one. */
  optional(tag: number): Der | null {
    return this.peek === tag ? this.any() : null
  }

  /** What lies inside of the next value. */
  inside(tag: number): DerReader {
    return new DerReader(this.take(tag).body, this.#what)
  }

  end(): void {
    if (!this.done) malformed(this.#what)
  }

  #byte(): number {
    return this.#bytes[this.#at++] ?? malformed(this.#what)
  }

  #length(): number {
    const first = this.#byte()
    if (first < 0x80) return first
    const count = first & 0x7f
    // 0x80 is of no fixed length, which DER forbids; four bytes would be 16 MB.
    if (count === 0 || count > 3) malformed(this.#what)
    let length = 0
    for (let i = 0; i < count; i++) length = 256 * length + this.#byte()
    if (length < (count === 1 ? 0x80 : 256 ** (count - 1))) malformed(this.#what)
    return length
  }
}

/** The one value that bytes hold. */
export function onlyValue(bytes: Uint8Array, tag: number, what: string): Der {
  const reader = new DerReader(bytes, what)
  const value = reader.take(tag)
  reader.end()
  return value
}

/** What lies inside of the one value that bytes hold. */
export const opened = (bytes: Uint8Array, tag: number, what: string): DerReader =>
  new DerReader(onlyValue(bytes, tag, what).body, what)

/** 1.2.840.10045 and the like. */
export function readOid({ body }: Der, what: string): string {
  const numbers: number[] = []
  let value = 0
  let begun = false
  for (const byte of body) {
    if ((!begun && byte === 0x80) || value > 2 ** 40) malformed(what)
    value = value * 128 + (byte & 0x7f)
    begun = (byte & 0x80) !== 0
    if (begun) continue
    if (numbers.length === 0) {
      const first = Math.min(2, Math.floor(value / 40))
      numbers.push(first, value - 40 * first)
    } else numbers.push(value)
    value = 0
  }
  if (begun || numbers.length === 0) malformed(what)
  return numbers.join('.')
}

/** The bytes of a number that is not negative, without the zero that keeps it so. */
export function readUnsigned({ body }: Der, what: string): Uint8Array {
  const [first, second = 0] = body
  if (first === undefined || first >= 0x80) malformed(what)
  if (first === 0 && body.length > 1) return second >= 0x80 ? body.subarray(1) : malformed(what)
  return body
}

/** A number below 2^48. */
export function readSmall(value: Der, what: string): number {
  const bytes = readUnsigned(value, what)
  return bytes.length <= 6 ? bytes.reduce((sum, byte) => 256 * sum + byte, 0) : malformed(what)
}

/** The bytes of a bit string that fills them. */
export function readBits({ body }: Der, what: string): Uint8Array {
  return body[0] === 0 ? body.subarray(1) : malformed(what)
}

export function readBoolean({ body }: Der, what: string): boolean {
  if (body.length !== 1 || (body[0] !== 0 && body[0] !== 0xff)) malformed(what)
  return body[0] === 0xff
}
