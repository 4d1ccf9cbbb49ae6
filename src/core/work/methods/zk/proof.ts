import { concatBytes } from '../../../bytes/bytes.ts'
import { decodeScalar, encodeScalar, POINT_BYTES, SCALAR_BYTES } from './group.ts'
import type { Folded } from './innerProduct.ts'

/** W10.4.5. Points as their bytes. */
export interface PrivateProof extends Folded {
  readonly mask: Uint8Array
  readonly first: Uint8Array
  readonly second: Uint8Array
  readonly total: bigint
  readonly blindTotal: bigint
  readonly blindVectors: bigint
}

const FIXED = 3 * POINT_BYTES + 5 * SCALAR_BYTES

export const privateProofBytes = (inner: number): number => FIXED + 2 * POINT_BYTES * Math.log2(inner)

export function encodeProof(proof: PrivateProof): Uint8Array {
  const { mask, first, second, total, blindTotal, blindVectors, rounds, l, r } = proof
  const ends = [mask, first, second, ...[total, blindTotal, blindVectors].map(encodeScalar)]
  return concatBytes(...ends, ...rounds.flat(), ...[l, r].map(encodeScalar))
}

/** Null for another size, or a number that is not in its one spelling. That points are points is looked at later. */
export function decodeProof(bytes: Uint8Array, inner: number): PrivateProof | null {
  if (bytes.length !== privateProofBytes(inner)) return null
  const at = (index: number) => bytes.subarray(32 * index, 32 * (index + 1))
  const count = bytes.length / 32
  const scalars = [3, 4, 5, count - 2, count - 1].map((index) => decodeScalar(at(index)))
  if (scalars.includes(null)) return null
  const [total, blindTotal, blindVectors, l, r] = scalars as [bigint, bigint, bigint, bigint, bigint]
  const rounds = Array.from({ length: Math.log2(inner) }, (_, i) => [at(6 + 2 * i), at(7 + 2 * i)] as const)
  return { mask: at(0), first: at(1), second: at(2), total, blindTotal, blindVectors, rounds, l, r }
}
