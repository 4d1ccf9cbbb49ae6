import * as z from 'zod'
import { count, hex } from '../bytes/fields.ts'
import { toHex } from '../bytes/hex.ts'
import { sha256 } from '../bytes/sha256.ts'

/** Openings of the largest operands under a code (W8.9) stay below. */
const MOST_EVIDENCE_BYTES = 64 * 2 ** 20

/** W12.5.5. Proofs of two transitions of a GPT of 10 million parameters stay below, and a file of it below what is read. */
export const MOST_PROVEN_BYTES = 88 * 2 ** 20

const atMost = (bytes: number) => z.strictObject({ bytes: count.max(bytes), sha256: hex(32) })

/** W4.4.2. What the signed line of a receipt says of the bytes behind it. */
export const evidenceBehind = atMost(MOST_EVIDENCE_BYTES)

/** The same where transitions were proven. */
export const provenBehind = atMost(MOST_PROVEN_BYTES)

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
