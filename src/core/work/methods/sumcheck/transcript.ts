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

  constructor({ workId, rows, columns, k, block, rootA, rootB, rootsC }: ProductStatement) {
    const sizes = concatBytes(...[rows, columns, k, block].map(u64le))
    this.#state = taggedHash('tsw1/sumcheck', workId, sizes, rootA, rootB, ...rootsC)
  }

  absorb(pairs: readonly Pair[]): void {
    this.#state = taggedHash('tsw1/absorb', this.#state, encodePairs(pairs))
  }

  /** As many numbers of the field, from what was absorbed so far. */
  draw(count: number): readonly Pair[] {
    return Array.from({ length: count }, (_, i) => pairFrom(taggedHash('tsw1/point', this.#state, u32le(i))))
  }
}
