import { concatBytes, u32le, u64le } from '../../../bytes/bytes.ts'
import { taggedHash } from '../../../bytes/sha256.ts'
import { encodePairs, type Pair, pairFrom } from './field.ts'

/** What a proof is about: nothing of it may be changed without changing every draw. */
export interface ProductStatement {
  readonly workId: Uint8Array
  readonly rows: number
  readonly columns: number
  readonly k: number
  /** Rows of C that lie under one root; the last ones are fewer. */
  readonly block: number
  readonly rootA: Uint8Array
  readonly rootB: Uint8Array
  readonly rootsC: readonly Uint8Array[]
}

/** W8.3. Draws that depend on everything said before. */
export class Transcript {
  #state: Uint8Array

  /** With codes where operands are committed under them too (W8.9). */
  constructor(statement: ProductStatement, codes?: readonly [Uint8Array, Uint8Array]) {
    const { workId, rows, columns, k, block, rootA, rootB, rootsC } = statement
    const sizes = concatBytes(...[rows, columns, k, block].map(u64le))
    const tag = codes ? 'tsw1/committed' : 'tsw1/sumcheck'
    this.#state = taggedHash(tag, workId, sizes, rootA, rootB, ...rootsC, ...(codes ?? []))
  }

  absorb(pairs: readonly Pair[]): void {
    this.absorbBytes(encodePairs(pairs))
  }

  absorbBytes(...bytes: readonly Uint8Array[]): void {
    this.#state = taggedHash('tsw1/absorb', this.#state, ...bytes)
  }

  /** As many places below a power of two. */
  places(count: number, below: number): readonly number[] {
    return Array.from({ length: count }, (_, i) => {
      const hash = taggedHash('tsw1/place', this.#state, u32le(i))
      return new DataView(hash.buffer).getUint32(0, true) % below
    })
  }

  /** As many numbers of the field, from what was absorbed so far. */
  draw(count: number): readonly Pair[] {
    return Array.from({ length: count }, (_, i) => pairFrom(taggedHash('tsw1/point', this.#state, u32le(i))))
  }
}
