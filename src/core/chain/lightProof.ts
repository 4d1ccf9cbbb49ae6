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

/** Columns of the accounts: their place among the fields, the depth of their leaves, and the bytes of an entry (§3.2.8). */
const COLUMNS = {
  key: { field: 0n, depth: 30n, bytes: 32 },
  purse: { field: 1n, depth: 29n, bytes: 8 },
  bond: { field: 2n, depth: 28n, bytes: 8 },
  stake: { field: 3n, depth: 28n, bytes: 8 },
  deposit: { field: 4n, depth: 28n, bytes: 8 },
  locked: { field: 6n, depth: 28n, bytes: 8 },
  drilled: { field: 9n, depth: 29n, bytes: 16 },
  trained: { field: 10n, depth: 29n, bytes: 16 },
  settled: { field: 12n, depth: 29n, bytes: 16 },
  round: { field: 27n, depth: 28n, bytes: 8 },
  roundRoot: { field: 28n, depth: 30n, bytes: 32 },
} as const

/** The accounts are field 5 of up to 32 of the state, and have up to 32 columns. */
const FIRST_COLUMN = (32n + 5n) << 5n

/** Where an entry of a column stands: so a page needs none of the types of the state, and takes no place from a proof. */
export function columnGindex(column: keyof typeof COLUMNS, at: number): bigint {
  const { field, depth, bytes } = COLUMNS[column]
  // The leaves of a list are left of its length.
  const leaves = ((FIRST_COLUMN + field) << 1n) << depth
  return leaves + BigInt(Math.floor((at * bytes) / 32))
}
