import * as z from 'zod'
import { count, hex } from '../bytes/fields.ts'
import { toHex } from '../bytes/hex.ts'
import { sha256 } from '../bytes/sha256.ts'

/** Openings of the largest operands under a code (W8.9) stay below. */
export const MOST_EVIDENCE_BYTES = 64 * 2 ** 20

/** W4.4.2. What the signed line of a receipt says of the bytes behind it. */
export const evidenceBehind = z.strictObject({ bytes: count.max(MOST_EVIDENCE_BYTES), sha256: hex(32) })

export type EvidenceBehind = z.infer<typeof evidenceBehind>

/** A receipt on its way to a file: what is signed, and what stands behind it. */
export interface Stated<S> {
  readonly statement: S
  readonly evidence: Uint8Array
}

export const describeEvidence = (evidence: Uint8Array): EvidenceBehind => ({
  bytes: evidence.length,
  sha256: toHex(sha256(evidence)),
})
