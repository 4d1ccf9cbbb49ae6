import { equalBytes } from '../bytes/bytes.ts'
import type { Signer } from '../bytes/ed25519.ts'
import { toHex } from '../bytes/hex.ts'
import {
  type AnswerReceipt,
  type AnswerStatement,
  answerOf,
  answerSchema,
  stateAnswer,
} from '../work/methods/zk/answerReceipt.ts'
import { checkPrivate } from '../work/methods/zk/checkPrivate.ts'
import { basesFor, type PrivateProduct, spellProduct } from '../work/methods/zk/statement.ts'
import { ProductTranscript } from '../work/methods/zk/transcript.ts'
import type { CheckedAnswer } from './checkCertificate.ts'
import { sealReceipt } from './envelope.ts'
import type { CertificateProblem } from './problems.ts'
import type { Opener } from './readEvidence.ts'
import { receiptOpener } from './receiptOpener.ts'
import { receiptTimesProblem } from './receiptTimes.ts'

/** A receipt about answers of a private model whose signature fits. Its proof was not looked at yet. */
export interface ReadAnswer {
  readonly kind: 'answer'
  readonly signerKeys: readonly Uint8Array[]
  readonly statement: AnswerStatement
  readonly receipt: AnswerReceipt
}

/** What of an answer a reader has himself. */
export interface AnswerAtHand {
  readonly hasInputs: boolean
  /** Why the answer is not that to what he has. */
  problemWith(product: PrivateProduct): CertificateProblem | null
}

/** Receipts of answers, for a reader who knows what the model is called that he asked and what he asked it, or does not. */
export const answerKind = (model: Uint8Array | null, atHand: AnswerAtHand): Opener =>
  receiptOpener(answerSchema, readAnswer, async (read) => checkAnswer(read, model, atHand))

function readAnswer(
  statement: AnswerStatement,
  signerKeys: readonly Uint8Array[],
  evidence: Uint8Array,
): ReadAnswer | CertificateProblem {
  const receipt = answerOf(statement, evidence)
  if (!receipt) return { code: 'MALFORMED', where: 'evidence' }
  const wrongTimes = receiptTimesProblem(receipt)
  if (wrongTimes) return wrongTimes
  const isOwn = signerKeys.some((key) => equalBytes(key, receipt.proverKey))
  return isOwn ? { kind: 'answer', signerKeys, statement, receipt } : { code: 'WRONG_SUBJECT', where: 'signer' }
}

const MODEL_NOT_NAMED = { code: 'MODEL_NOT_NAMED' } as const
const NOT_AT_HAND = { code: 'OPERANDS_NOT_AT_HAND', where: 'add --given INPUTS.npy' } as const

/** W10.8. Answers of weights that nobody had published before show only that such weights exist. */
function checkAnswer(read: ReadAnswer, model: Uint8Array | null, atHand: AnswerAtHand): CheckedAnswer {
  const { product, proof, modelId } = read.receipt
  const draws = new ProductTranscript(spellProduct(product))
  const wrong = checkPrivate(product, basesFor(product.inner, modelId), proof, draws)
  const problem: CertificateProblem | null =
    model && !equalBytes(model, modelId)
      ? { code: 'OTHER_MODEL', got: toHex(modelId), expected: toHex(model) }
      : wrong
        ? { code: 'PROOF_WRONG', where: wrong }
        : atHand.problemWith(product)
  const doubts = [...(model ? [] : [MODEL_NOT_NAMED]), ...(atHand.hasInputs ? [] : [NOT_AT_HAND])]
  return { kind: 'answer', problem, doubts, read }
}

/** Such a receipt as a signed file that anyone checks offline. */
export const issueAnswer = (receipt: AnswerReceipt, signer: Signer): Uint8Array =>
  sealReceipt(stateAnswer(receipt), signer)
