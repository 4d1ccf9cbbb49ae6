import { u32le } from '../bytes/bytes.ts'
import { taggedHash } from '../bytes/sha256.ts'
import { padRoots, rootOf } from './merkle.ts'

/** §4.2. Where device d starts in part p: bound to this challenge, this part's fresh S and this device. */
export const partSeed = (x: Uint8Array, s: Uint8Array, part: number, device: number): Uint8Array =>
  taggedHash('tsp1/seed', x, s, u32le(part), u32le(device))

/** §4.2. Rounds are sequential: the next operands exist only once this round's root does. */
export const nextSeed = (seed: Uint8Array, root: Uint8Array): Uint8Array => taggedHash('tsp1/next', seed, root)

/** §4.1. What the challenge says of a nonce before it is revealed. */
export const nonceHash = (nonce: Uint8Array): Uint8Array => taggedHash('tsp1/nonce', nonce)

/** §7. Q_j over the roots of the kept rounds in pass j. */
export const passRoot = (pass: number, roots: readonly Uint8Array[]): Uint8Array =>
  taggedHash('tsp1/mem', u32le(pass), rootOf(padRoots(roots)))

/** §7. Passes are sequential too; those of several devices that are read together follow from the roots of all. */
export const nextPass = (z: Uint8Array, ...q: readonly Uint8Array[]): Uint8Array => taggedHash('tsp1/pass', z, ...q)

/** One word per root: the first, and each that follows from the one before and its root. */
const following =
  (next: (word: Uint8Array, root: Uint8Array) => Uint8Array) => (first: Uint8Array, roots: readonly Uint8Array[]) => {
    const words = [first]
    for (const root of roots.slice(0, -1)) words.push(next(words.at(-1)!, root))
    return words.slice(0, roots.length)
  }

/** The seeds of a series with the given roots. */
export const seriesSeeds = following(nextSeed)

/** Z_0 … Z_(P-1) from Z_0 and the pass roots. */
export const passWords = following(nextPass)

/** The same of several devices that are read together, from the pass roots of each. */
export function jointPassWords(first: Uint8Array, roots: readonly (readonly Uint8Array[])[]): Uint8Array[] {
  const words = [first]
  for (let pass = 1; pass < roots[0]!.length; pass++)
    words.push(nextPass(words.at(-1)!, ...roots.map((own) => own[pass - 1]!)))
  return words
}
