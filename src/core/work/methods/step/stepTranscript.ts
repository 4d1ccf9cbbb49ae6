import { u32le } from '../../../bytes/bytes.ts'
import { taggedHash } from '../../../bytes/sha256.ts'
import { encodeQuads, type Quad, quadFrom } from './field31.ts'

/** W12.1.3. Draws that depend on everything said before. */
export class StepTranscript {
  #state: Uint8Array

  /** It begins with everything that the proof is about. */
  constructor(...statement: readonly Uint8Array[]) {
    this.#state = taggedHash('tsw1/step', ...statement)
  }

  absorb(quads: readonly Quad[]): void {
    this.absorbBytes(encodeQuads(quads))
  }

  absorbBytes(...bytes: readonly Uint8Array[]): void {
    this.#state = taggedHash('tsw1/absorb', this.#state, ...bytes)
  }

  /** As many places below a bound of at most 2^21, with repeats. */
  places(count: number, below: number): readonly number[] {
    return Array.from({ length: count }, (_, i) => {
      const hash = taggedHash('tsw1/place', this.#state, u32le(i))
      const view = new DataView(hash.buffer, hash.byteOffset)
      return ((view.getUint32(4, true) % below) * 2 ** 32 + view.getUint32(0, true)) % below
    })
  }

  /** As many numbers of the field, from what was absorbed so far. */
  draw(count: number): readonly Quad[] {
    return Array.from({ length: count }, (_, i) => quadFrom(taggedHash('tsw1/point', this.#state, u32le(i))))
  }
}
