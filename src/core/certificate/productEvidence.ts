import { equalBytes } from '../bytes/bytes.ts'
import type { Signer } from '../bytes/ed25519.ts'
import type { TensorHasher } from '../work/engineRun.ts'
import { creditedOperations } from '../work/liveRule.ts'
import type { FieldEngine } from '../work/methods/sumcheck/evaluate.ts'
import {
  liveShareOf,
  type ProductReceipt,
  type ProductReceiptStatement,
  productOf,
  productReceiptOf,
  productSchema,
  stateProductReceipt,
} from '../work/methods/sumcheck/productReceipt.ts'
import { checkRounds, checkSumcheck, type ProductTensors, sumcheckError } from '../work/methods/sumcheck/sumcheck.ts'
import type { ProductStatement } from '../work/methods/sumcheck/transcript.ts'
import { WorkRefusal } from '../work/refusals.ts'
import { openWork, operationsOfWork, type Work } from '../work/work.ts'
import type { WorkKernels } from '../work/workKernels.ts'
import { WORK_KINDS } from '../work/workKinds.ts'
import { EXACT_OPS } from '../work/workOps.ts'
import type { CheckedProduct } from './checkCertificate.ts'
import { sealEnvelope } from './envelope.ts'
import type { CertificateProblem } from './problems.ts'
import { evidenceKind, type Opener } from './readEvidence.ts'
import { receiptTimesProblem } from './receiptTimes.ts'

/** A receipt of a product whose signature fits, and what its proof must be about. Nothing in it was computed yet. */
export interface ReadProduct {
  readonly kind: 'product'
  readonly signerKeys: readonly Uint8Array[]
  readonly statement: ProductReceiptStatement
  readonly receipt: ProductReceipt
  readonly work: Work<WorkKernels>
  readonly product: ProductStatement
}

/** What a reader computes with, and A, B and C as he has them. */
export interface AtHand {
  readonly engine: FieldEngine
  readonly hasher: Pick<TensorHasher, 'root'>
  readonly tensors: ProductTensors
}

/** Receipts of products, judged against what a reader has of A, B and C; null where he handed in nothing. */
export const productKind = (atHand: ((product: ProductStatement) => Promise<AtHand>) | null): Opener =>
  evidenceKind(productSchema, readProduct, async (read) => checkProduct(read, atHand && (await atHand(read.product))))

function readProduct(
  statement: ProductReceiptStatement,
  signerKeys: readonly Uint8Array[],
): ReadProduct | CertificateProblem {
  const receipt = productReceiptOf(statement)
  if (!receipt) return { code: 'MALFORMED', where: 'predicate' }
  const { spec: text, orderId, seed, roots, workId } = receipt
  const wrongTimes = receiptTimesProblem(receipt)
  if (wrongTimes) return wrongTimes
  try {
    const work = openWork(WORK_KINDS, EXACT_OPS, { text, orderId, seed })
    const product = productOf(work, roots)
    if (!product) return { code: 'BAD_WORK', where: 'no product, or another number of roots' }
    if (!equalBytes(work.workId, workId)) return { code: 'WRONG_SUBJECT', where: 'work' }
    return { kind: 'product', signerKeys, statement, receipt, work, product }
  } catch (refusal) {
    if (!(refusal instanceof WorkRefusal)) throw refusal
    return { code: 'BAD_WORK', where: refusal.message }
  }
}

const NOT_AT_HAND = { code: 'OPERANDS_NOT_AT_HAND' } as const
/** W4.5 (attack 161). */
const DEAD_WORK = { code: 'DEAD_WORK' } as const

/** W8.8. Without A, B and C the rounds alone can be followed, which shows nothing of C. */
function checkProduct(read: ReadProduct, atHand: AtHand | null): CheckedProduct {
  const { product, receipt, work } = read
  const operations = operationsOfWork(work)
  const problem = atHand
    ? checkSumcheck(atHand.engine, atHand.hasher, product, atHand.tensors, receipt.proof)
    : checkRounds(product, receipt.proof)
  const isShown = atHand !== null && problem === null
  const liveShare = isShown ? liveShareOf(product, atHand.tensors.a, atHand.tensors.b) : 0
  const credited = isShown ? creditedOperations(operations, liveShare) : 0
  return {
    kind: 'product',
    problem: problem && { code: problem === 'WRONG_TENSOR' ? 'OTHER_TENSOR' : 'PROOF_WRONG', where: problem },
    doubts: !atHand ? [NOT_AT_HAND] : credited > 0 ? [] : [DEAD_WORK],
    read,
    figures: { operations, liveShare, credited, proofBytes: receipt.proof.length, log2Error: sumcheckError(product) },
  }
}

/** Such a receipt as a signed file that anyone with A, B and C checks offline. */
export const issueProduct = (receipt: ProductReceipt, signer: Signer): string =>
  sealEnvelope(new TextEncoder().encode(JSON.stringify(stateProductReceipt(receipt))), signer)
