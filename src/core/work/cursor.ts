/** Takes bytes off, from the front; null where there are not so many. */
export class Cursor {
  readonly #bytes: Uint8Array
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  get left(): number {
    return this.#bytes.length - this.#at
  }

  take(length: number): Uint8Array | null {
    if (length > this.left) return null
    this.#at += length
    return this.#bytes.subarray(this.#at - length, this.#at)
  }
}
