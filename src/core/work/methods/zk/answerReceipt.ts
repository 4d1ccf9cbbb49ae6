import * as z from 'zod'
import { fromBase64, toBase64 } from '../../../bytes/base64.ts'
import { concatBytes } from '../../../bytes/bytes.ts'
import type { DeepReadonly } from '../../../bytes/decodeJson.ts'
import { base64, hex, instant, shortText } from '../../../bytes/fields.ts'
import { fromHex, toHex } from '../../../bytes/hex.ts'
import { POINT_BYTES } from './group.ts'
import {
  isWellFormed,
  MOST_ENTRIES,
  MOST_INNER,
  MOST_INPUTS,
  MOST_SIDE,
  matrixId,
  type PrivateProduct,
} from './statement.ts'

export const ANSWER_TYPE = 'urn:touchstone:private-answer:1'

const size = z.int().min(1).max(MOST_SIDE)
/** No more letters than the largest product has: a list is made of them before its sizes are compared. */
const lettersFor = (bytes: number) => base64.max(4 * Math.ceil(bytes / 3))

const predicate = z.strictObject({
  program: shortText,
  startedAt: instant,
  issuedAt: instant,
  notAfter: instant,
  classes: size,
  inner: z.int().min(1).max(MOST_INNER),
  inputs: size,
  /** A commitment to the weights of each class. */
  weights: lettersFor(POINT_BYTES * MOST_SIDE),
  /** Every input, int8, padded with zeros to `inner`. */
  input: lettersFor(MOST_INPUTS),
  /** int32, a row for each class. */
  scores: lettersFor(4 * MOST_ENTRIES),
  proof: base64.max(2048),
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

export function stateAnswer(receipt: AnswerReceipt): AnswerStatement {
  const { program, startedAt, issuedAt, notAfter, proverKey, product, proof } = receipt
  return {
    _type: 'https://in-toto.io/Statement/v1',
    subject: [
      { name: 'model', digest: { sha256: toHex(receipt.modelId) } },
      { name: 'prover', digest: { ed25519: toHex(proverKey) } },
    ],
    predicateType: ANSWER_TYPE,
    predicate: {
      ...{ program, startedAt, issuedAt, notAfter },
      ...{ classes: product.rows, inner: product.inner, inputs: product.columns },
      weights: toBase64(concatBytes(...product.a)),
      input: toBase64(new Uint8Array(Int8Array.from(entriesIn(product.b)).buffer)),
      scores: toBase64(new Uint8Array(Int32Array.from(entriesIn(product.c)).buffer)),
      proof: toBase64(proof),
    },
  }
}

/** Null where a field is not what its place asks for, or the model is not called after its commitments. */
export function answerOf({ subject, predicate: said }: AnswerStatement): AnswerReceipt | null {
  const { program, startedAt, issuedAt, notAfter, classes: rows, inner, inputs: columns } = said
  const [weights, input, scores, proof] = [said.weights, said.input, said.scores, said.proof].map(fromBase64)
  if (!weights || !input || !scores || !proof || weights.length % POINT_BYTES !== 0 || scores.length % 4 !== 0)
    return null
  const a = Array.from({ length: weights.length / POINT_BYTES }, (_, i) =>
    weights.subarray(i * POINT_BYTES, (i + 1) * POINT_BYTES),
  )
  const modelId = fromHex(subject[0].digest.sha256, 32)!
  const b = { open: [...new Int8Array(input.buffer, input.byteOffset, input.length)] }
  const c = { open: [...new Int32Array(new Uint8Array(scores).buffer)] }
  const product = { rows, inner, columns, a, b, c }
  if (!isWellFormed(product) || toHex(matrixId(a)) !== toHex(modelId)) return null
  const proverKey = fromHex(subject[1].digest.ed25519, 32)!
  return { program, startedAt, issuedAt, notAfter, proverKey, modelId, product, proof }
}
