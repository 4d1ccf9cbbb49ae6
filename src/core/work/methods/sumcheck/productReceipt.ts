import * as z from 'zod'
import { concatBytes, joinBytes, u32le, words32 } from '../../../bytes/bytes.ts'
import type { DeepReadonly } from '../../../bytes/decodeJson.ts'
import { count, hex } from '../../../bytes/fields.ts'
import { fromHex, toHex } from '../../../bytes/hex.ts'
import { splitRoots } from '../../checkSegment.ts'
import { describeEvidence, type Stated } from '../../evidenceBehind.ts'
import { type WorkFacts, workFacts, workSubject } from '../../receipt.ts'
import type { Work } from '../../work.ts'
import type { ProductStatement } from './transcript.ts'

export const PRODUCT_TYPE = 'urn:touchstone:product:2'

const HASH_BYTES = 32
/** W8.4.4. Openings of operands under a code (W8.9) are longer. */
const MOST_PROOF_BYTES = 592

const predicate = z.strictObject({
  ...workFacts,
  /** The codes of A and B, where the proof opens both for who has neither. */
  codes: z.tuple([hex(32), hex(32)]).exactOptional(),
  elapsedUs: count.nullable(),
})

/** W8.8. The statement of a product that was proven. */
export const productSchema = z.strictObject({
  _type: z.literal('https://in-toto.io/Statement/v1'),
  subject: workSubject,
  predicateType: z.literal(PRODUCT_TYPE),
  predicate,
})

export type ProductReceiptStatement = DeepReadonly<z.infer<typeof productSchema>>

/** The codes of A and B (W8.9.3). */
export type Codes = readonly [Uint8Array, Uint8Array]

/** What such a receipt holds, as values. */
export interface ProductReceipt extends WorkFacts {
  readonly roots: readonly Uint8Array[]
  readonly proof: Uint8Array
  readonly codes: Codes | null
  readonly elapsedUs: number | null
}

export function stateProductReceipt(receipt: ProductReceipt): Stated<ProductReceiptStatement> {
  const { workId, proverKey, orderId, seed, roots, proof, codes, elapsedUs } = receipt
  const { program, startedAt, issuedAt, notAfter, device, spec } = receipt
  const evidence = concatBytes(u32le(roots.length), joinBytes(roots), proof)
  const statement: ProductReceiptStatement = {
    _type: 'https://in-toto.io/Statement/v1',
    subject: [
      { name: 'work', digest: { sha256: toHex(workId) } },
      { name: 'prover', digest: { ed25519: toHex(proverKey) } },
    ],
    predicateType: PRODUCT_TYPE,
    predicate: {
      ...{ program, startedAt, issuedAt, notAfter, device, spec },
      orderId: toHex(orderId),
      seed: toHex(seed),
      evidence: describeEvidence(evidence),
      ...(codes ? { codes: [toHex(codes[0]), toHex(codes[1])] as const } : {}),
      elapsedUs,
    },
  }
  return { statement, evidence }
}

/** W8.8.1. The roots of all blocks of C and the proof; null where they are not spelled as they must be. */
function provenIn(evidence: Uint8Array, isCoded: boolean): Pick<ProductReceipt, 'roots' | 'proof'> | null {
  const from = 4 + HASH_BYTES * (evidence.length < 4 ? 0 : words32(evidence.subarray(0, 4))[0]!)
  if (from > evidence.length || (!isCoded && evidence.length - from > MOST_PROOF_BYTES)) return null
  return { roots: splitRoots(evidence.subarray(4, from)), proof: evidence.subarray(from) }
}

/** Null where the evidence, whose hash was compared, is not what its place asks for. */
export function productReceiptOf(
  { subject, predicate: said }: ProductReceiptStatement,
  evidence: Uint8Array,
): ProductReceipt | null {
  const proven = provenIn(evidence, said.codes !== undefined)
  if (!proven) return null
  const bytes = (text: string) => fromHex(text, HASH_BYTES)!
  return {
    ...said,
    ...proven,
    workId: bytes(subject[0].digest.sha256),
    proverKey: bytes(subject[1].digest.ed25519),
    orderId: bytes(said.orderId),
    seed: bytes(said.seed),
    codes: said.codes ? [bytes(said.codes[0]), bytes(said.codes[1])] : null,
  }
}

/** What a proof about a work must be about; null where the work is no product, or has another number of blocks. */
export function productOf<K>(work: Work<K>, roots: readonly Uint8Array[]): ProductStatement | null {
  const [a, b, c] = [work.given.get('a'), work.given.get('b'), work.state.get('c')]
  if (work.spec.kind !== 'matmul' || !a || !b || !c || roots.length !== work.ends.length) return null
  const [rootA, rootB] = [work.givenRoots.get('a')!, work.givenRoots.get('b')!]
  const sizes = { rows: a.rows, columns: b.rows, k: a.width, block: c.rows }
  return { ...sizes, workId: work.workId, rootA, rootB, rootsC: roots }
}

/** W4.5, over all pairs of rows: the share of entries of C that no row of zeros makes. */
export function liveShareOf({ rows, columns, k }: ProductStatement, a: Uint8Array, b: Uint8Array): number {
  return (liveRows(a, rows, k) / rows) * (liveRows(b, columns, k) / columns)
}

/** The same for who has C alone: an entry that is not 0 was made by two rows that are not. */
export function leastLiveShare(c: readonly Uint8Array[]): number {
  let [live, all] = [0, 0]
  for (const block of c) {
    // A copy: what comes from a file may be a stretch of memory that others use too, and its own `slice` is as well.
    const entries = new Int32Array(new Uint8Array(block).buffer)
    all += entries.length
    for (const entry of entries) if (entry !== 0) live++
  }
  return live / all
}

function liveRows(bytes: Uint8Array, rows: number, width: number): number {
  let live = 0
  for (let row = 0; row < rows; row++)
    for (let at = row * width; at < (row + 1) * width; at++)
      if (bytes[at] !== 0) {
        live++
        break
      }
  return live
}
