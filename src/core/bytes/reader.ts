/** Thrown by strict decoders; `what` names the field in our own words, never in the sender's. */
export class DecodeError extends Error {
  override readonly name = 'DecodeError'
}

/** Reads fixed little-endian fields from hostile bytes: every read is bounds-checked, and `end` refuses leftovers. */
export class ByteReader {
  readonly #bytes: Uint8Array
  readonly #view: DataView
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  get left(): number {
    return this.#bytes.length - this.#at
  }

  #advance(length: number, what: string): number {
    if (length > this.left) throw new DecodeError(`${what}: ${length} bytes expected, ${this.left} left`)
    const from = this.#at
    this.#at += length
    return from
  }

  u8(what: string): number {
    return this.#view.getUint8(this.#advance(1, what))
  }

  u32(what: string): number {
    return this.#view.getUint32(this.#advance(4, what), true)
  }

  /** A copy: what is kept of a message must not hold the whole message in memory. */
  bytes(length: number, what: string): Uint8Array {
    const from = this.#advance(length, what)
    return this.#bytes.slice(from, from + length)
  }

  rest(what: string): Uint8Array {
    return this.bytes(this.left, what)
  }

  end(what: string): void {
    if (this.left !== 0) throw new DecodeError(`${what}: ${this.left} bytes too many`)
  }
}
