import { equalBytes } from '../bytes/bytes.ts'
import { sha256 } from '../bytes/sha256.ts'

/** One leaf of a state with the siblings on its way to the root: 32 bytes each, from the leaf up. */
export interface LightProof {
  /** The place of the leaf in the tree of the whole state: 1 is the root, 2n and 2n + 1 are the children of n. */
  readonly gindex: bigint
  readonly leaf: Uint8Array
  readonly witnesses: readonly Uint8Array[]
}

/** Whether the leaf stands there under this root. Needs SHA-256 and nothing else: a page checks it too. */
export function checkLightProof(root: Uint8Array, { gindex, leaf, witnesses }: LightProof): boolean {
  if (gindex < 1n || gindex.toString(2).length - 1 !== witnesses.length) return false
  if (leaf.length !== 32 || witnesses.some((witness) => witness.length !== 32)) return false
  let [at, node] = [gindex, leaf]
  for (const witness of witnesses) {
    node = (at & 1n) === 0n ? sha256(node, witness) : sha256(witness, node)
    at >>= 1n
  }
  return equalBytes(node, root)
}

/** The number that a leaf holds at a place: numbers of `bytes` bytes lie side by side, the least significant byte first. */
export function numberInLeaf(leaf: Uint8Array, index: number, bytes: number): bigint {
  const from = (index % (32 / bytes)) * bytes
  return leaf.subarray(from, from + bytes).reduceRight((number, byte) => (number << 8n) | BigInt(byte), 0n)
}
