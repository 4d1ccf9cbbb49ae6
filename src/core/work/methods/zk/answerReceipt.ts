import * as z from 'zod'
import { concatBytes } from '../../../bytes/bytes.ts'
import type { DeepReadonly } from '../../../bytes/decodeJson.ts'
import { hex, instant, shortText } from '../../../bytes/fields.ts'
import { fromHex, toHex } from '../../../bytes/hex.ts'
import { Cursor } from '../../cursor.ts'
import { describeEvidence, evidenceBehind, type Stated } from '../../evidenceBehind.ts'
import { POINT_BYTES } from './group.ts'
import { isFit, MOST_INNER, MOST_SIDE, matrixId, type PrivateProduct } from './statement.ts'

export const ANSWER_TYPE = 'urn:touchstone:private-answer:2'

const size = z.int().min(1).max(MOST_SIDE)

const predicate = z.strictObject({
  program: shortText,
  startedAt: instant,
  issuedAt: instant,
  notAfter: instant,
  classes: size,
  inner: z.int().min(1).max(MOST_INNER),
  inputs: size,
  evidence: evidenceBehind,
})

/** W10.8. The statement about answers of a private linear model. */
export const answerSchema = z.strictObject({
  _type: z.literal('https://in-toto.io/Statement/v1'),
  subject: z.tuple([
    z.strictObject({ name: z.literal('model'), digest: z.strictObject({ sha256: hex(32) }) }),
    z.strictObject({ name: z.literal('prover'), digest: z.strictObject({ ed25519: hex(32) }) }),
  ]),
  predicateType: z.literal(ANSWER_TYPE),
  predicate,
})

export type AnswerStatement = DeepReadonly<z.infer<typeof answerSchema>>

/** What such a receipt holds, as values. */
export interface AnswerReceipt {
  readonly program: string
  readonly startedAt: string
  readonly issuedAt: string
  readonly notAfter: string
  readonly proverKey: Uint8Array
  readonly modelId: Uint8Array
  /** Weights hidden, inputs and scores in the open. */
  readonly product: PrivateProduct
  readonly proof: Uint8Array
}

const entriesIn = (side: PrivateProduct['b']): readonly number[] => ('open' in side ? side.open : [])

export function stateAnswer(receipt: AnswerReceipt): Stated<AnswerStatement> {
  const { program, startedAt, issuedAt, notAfter, proverKey, product, proof } = receipt
  const input = new Uint8Array(Int8Array.from(entriesIn(product.b)).buffer)
  const scores = new Uint8Array(Int32Array.from(entriesIn(product.c)).buffer)
  const evidence = concatBytes(...product.a, input, scores, proof)
  const statement: AnswerStatement = {
    _type: 'https://in-toto.io/Statement/v1',
    subject: [
      { name: 'model', digest: { sha256: toHex(receipt.modelId) } },
      { name: 'prover', digest: { ed25519: toHex(proverKey) } },
    ],
    predicateType: ANSWER_TYPE,
    predicate: {
      ...{ program, startedAt, issuedAt, notAfter },
      ...{ classes: product.rows, inner: product.inner, inputs: product.columns },
      evidence: describeEvidence(evidence),
    },
  }
  return { statement, evidence }
}

/**
 * W10.8.2. From the evidence, whose hash was compared: a commitment to the weights of each class, every input as int8,
 * padded with zeros to `inner`, scores as int32, a row for each class, and the proof. Null where that is not in it, or the
 * model is not called after its commitments.
 */
export function answerOf({ subject, predicate: said }: AnswerStatement, evidence: Uint8Array): AnswerReceipt | null {
  const { program, startedAt, issuedAt, notAfter, classes: rows, inner, inputs: columns } = said
  const bytes = new Cursor(evidence)
  const [weights, input, scores] = [POINT_BYTES * rows, columns * inner, 4 * rows * columns].map((n) => bytes.take(n))
  if (!isFit({ rows, inner, columns }) || !weights || !input || !scores) return null
  const a = Array.from({ length: rows }, (_, i) => weights.subarray(i * POINT_BYTES, (i + 1) * POINT_BYTES))
  const modelId = fromHex(subject[0].digest.sha256, 32)!
  const b = { open: [...new Int8Array(input.buffer, input.byteOffset, input.length)] }
  const c = { open: [...new Int32Array(new Uint8Array(scores).buffer)] }
  const product = { rows, inner, columns, a, b, c }
  if (toHex(matrixId(a)) !== toHex(modelId)) return null
  const proverKey = fromHex(subject[1].digest.ed25519, 32)!
  return { program, startedAt, issuedAt, notAfter, proverKey, modelId, product, proof: bytes.take(bytes.left)! }
}
