/** The only chance there is: bytes nobody else could have known before. */
export interface Randomness {
  bytes(length: number): Uint8Array
}
