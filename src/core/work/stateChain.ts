import { ascii, concatBytes, u32le, u64le } from '../bytes/bytes.ts'
import { taggedHash } from '../bytes/sha256.ts'
import { rootOver } from './tensorTree.ts'

/** W3.3. All replicas share it. */
export const workIdOf = (spec: string, orderId: Uint8Array, seed: Uint8Array): Uint8Array =>
  taggedHash('tsw1/work', new TextEncoder().encode(spec), orderId, seed)

/** W4.2. A state is a root for each of its tensors, in file order. */
export const stateRoot = (tensorRoots: readonly Uint8Array[]): Uint8Array => rootOver(tensorRoots)

/** A state that was committed: the end of a segment. */
export interface StateMark {
  /** Transitions done so far. */
  readonly transition: number
  readonly root: Uint8Array
  /** Figures of the last transition, as the bits of floats. */
  readonly statistics: readonly number[]
}

/** W4.2. Where the chain of states begins: everybody makes the first one. */
export const beginChain = (workId: Uint8Array, root0: Uint8Array): Uint8Array => taggedHash('tsw1/begin', workId, root0)

export const nextLink = (before: Uint8Array, { transition, root, statistics }: StateMark): Uint8Array =>
  taggedHash('tsw1/state', before, u64le(transition), root, ...statistics.map(u32le))

/** h after every mark, from the beginning on: as many as marks, and one. */
export function linksOf(workId: Uint8Array, root0: Uint8Array, marks: readonly StateMark[]): readonly Uint8Array[] {
  const links = [beginChain(workId, root0)]
  for (const mark of marks) links.push(nextLink(links.at(-1)!, mark))
  return links
}

/** W4.2. What a replica says of h while others still work: nobody can copy it. */
export const hiddenLink = (key: Uint8Array, salt: Uint8Array, link: Uint8Array): Uint8Array =>
  taggedHash('tsw1/commit', key, salt, link)

/** W4.3. What draws: bound to every state that was committed. */
export const drawSeed = (link: Uint8Array, nonce: Uint8Array, ...traces: readonly Uint8Array[]): Uint8Array =>
  taggedHash('tsw1/draw', link, nonce, ...traces)

const pickOf = (seed: Uint8Array, what: string, index: number): Uint8Array =>
  taggedHash('tsw1/pick', seed, ascii(what), concatBytes(Uint8Array.of(0), u32le(index)))

/** A whole number below `below`, the `index`th of a draw. */
export function drawBelow(seed: Uint8Array, what: string, index: number, below: number): number {
  const hash = pickOf(seed, what, index)
  return Number((new DataView(hash.buffer).getBigUint64(0, true) * BigInt(below)) >> 64n)
}

/** W4.3.4. A bit of the same hash, behind the bytes that a number is drawn from. */
export const drawBit = (seed: Uint8Array, what: string, index: number): boolean =>
  (pickOf(seed, what, index)[8]! & 1) === 1
