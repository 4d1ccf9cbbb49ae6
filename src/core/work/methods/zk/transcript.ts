import { sha512 } from '@noble/hashes/sha2.js'
import { ascii, concatBytes, u32le } from '../../../bytes/bytes.ts'
import { taggedHash } from '../../../bytes/sha256.ts'
import { wideScalar } from './group.ts'

/** Where both sides take their draws from: everything that was said before decides them. */
export interface Draws {
  absorb(...said: readonly Uint8Array[]): void
  /** As many numbers, from what was absorbed so far. */
  draw(count: number): readonly bigint[]
}

/** W10.3. */
export class ProductTranscript implements Draws {
  #state: Uint8Array

  constructor(statement: Uint8Array) {
    this.#state = taggedHash('tsz1/product', statement)
  }

  absorb(...said: readonly Uint8Array[]): void {
    this.#state = taggedHash('tsz1/absorb', this.#state, ...said)
  }

  draw(count: number): readonly bigint[] {
    return Array.from({ length: count }, (_, i) =>
      wideScalar(sha512(concatBytes(ascii('tsz1/draw'), this.#state, u32le(i)))),
    )
  }
}
