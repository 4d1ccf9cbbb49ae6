import { equalBytes } from '../bytes/bytes.ts'
import type { Signer } from '../bytes/ed25519.ts'
import type { TensorHasher } from '../work/engineRun.ts'
import { creditedOperations } from '../work/liveRule.ts'
import { type CommittedProblem, checkCommitted, committedError } from '../work/methods/sumcheck/committed.ts'
import type { FieldEngine } from '../work/methods/sumcheck/evaluate.ts'
import { codeOperand } from '../work/methods/sumcheck/operandCode.ts'
import {
  type Codes,
  leastLiveShare,
  liveShareOf,
  type ProductReceipt,
  type ProductReceiptStatement,
  productOf,
  productReceiptOf,
  productSchema,
  stateProductReceipt,
} from '../work/methods/sumcheck/productReceipt.ts'
import { checkRounds, checkSumcheck, type ProductOperands, sumcheckError } from '../work/methods/sumcheck/sumcheck.ts'
import type { ProductStatement } from '../work/methods/sumcheck/transcript.ts'
import { WorkRefusal } from '../work/refusals.ts'
import { openWork, operationsOfWork, type Work } from '../work/work.ts'
import type { WorkKernels } from '../work/workKernels.ts'
import { WORK_KINDS } from '../work/workKinds.ts'
import { EXACT_OPS } from '../work/workOps.ts'
import type { CheckedProduct } from './checkCertificate.ts'
import type { Doubt } from './doubts.ts'
import { sealReceipt } from './envelope.ts'
import type { CertificateProblem } from './problems.ts'
import type { Opener } from './readEvidence.ts'
import { receiptOpener } from './receiptOpener.ts'
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

/** What a reader computes with, and C, A and B as he has them. */
export interface AtHand {
  readonly engine: FieldEngine
  readonly hasher: TensorHasher
  readonly c: readonly Uint8Array[]
  /** Null for who has C alone, which is enough where operands are under a code. */
  readonly operands: ProductOperands | null
}

/**
 * Receipts of products, judged against what a reader has of A, B and C (null: nothing), and against the codes of A and B
 * that their owner published (null: the reader does not know them).
 */
export const productKind = (
  atHand: ((product: ProductStatement) => Promise<AtHand>) | null,
  published: Codes | null = null,
): Opener =>
  receiptOpener(productSchema, readProduct, async (read) => {
    const there = atHand && (await atHand(read.product))
    const { codes } = read.receipt
    return codes ? checkCoded(read, codes, there, published) : checkProduct(read, there)
  })

function readProduct(
  statement: ProductReceiptStatement,
  signerKeys: readonly Uint8Array[],
  evidence: Uint8Array,
): ReadProduct | CertificateProblem {
  const receipt = productReceiptOf(statement, evidence)
  if (!receipt) return { code: 'MALFORMED', where: 'evidence' }
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

const ALL_THREE = 'add --given A.npy --given B.npy --result C.npy'
const NOT_AT_HAND = { code: 'OPERANDS_NOT_AT_HAND', where: ALL_THREE } as const
/** W4.5 (attack 161). */
const DEAD_WORK = { code: 'DEAD_WORK' } as const

/** W8.8. Without A, B and C the rounds alone can be followed, which shows nothing of C. */
function checkProduct(read: ReadProduct, atHand: AtHand | null): CheckedProduct {
  const { product, receipt } = read
  const { engine, hasher, c, operands } = atHand ?? { operands: null }
  const judge = judged(read, sumcheckError(product))
  if (!operands) return judge(checkRounds(product, receipt.proof), null, [NOT_AT_HAND])
  const problem = checkSumcheck(engine!, hasher!, product, { ...operands, c: c! }, receipt.proof)
  return judge(problem, liveShareOf(product, operands.a, operands.b), [])
}

const CODE_NOT_NAMED = { code: 'CODE_NOT_NAMED' } as const

/** W8.9. With C alone; that the codes are those of the operands is for who published them, or has the operands, to say. */
function checkCoded(read: ReadProduct, codes: Codes, atHand: AtHand | null, published: Codes | null): CheckedProduct {
  const { product, receipt } = read
  const judge = judged(read, committedError(product))
  if (!atHand) return judge(null, null, [NOT_AT_HAND])
  const { engine, hasher, c, operands } = atHand
  if (published?.some((code, i) => !equalBytes(code, codes[i]!))) return judge('WRONG_TENSOR', null, [])
  if (operands && !areCodesOf(atHand, product, operands, codes)) return judge('WRONG_TENSOR', null, [])
  const statement = { ...product, codeA: codes[0], codeB: codes[1] }
  const problem = checkCommitted(engine, hasher, statement, c, receipt.proof)
  return judge(problem, problem ? null : leastLiveShare(c), published || operands ? [] : [CODE_NOT_NAMED])
}

function areCodesOf({ engine, hasher }: AtHand, product: ProductStatement, { a, b }: ProductOperands, codes: Codes) {
  const { rows, columns, k, rootA, rootB } = product
  const isOf = (rows: number, bytes: Uint8Array, root: Uint8Array, code: Uint8Array) => {
    if (bytes.length !== rows * k) return false
    const made = codeOperand(engine, hasher, { type: 'i8', rows, width: k }, bytes)
    return equalBytes(made.root, root) && equalBytes(made.code, code)
  }
  return isOf(rows, a, rootA, codes[0]) && isOf(columns, b, rootB, codes[1])
}

/** What follows from a problem, or from the share that is live: null where nothing was shown. */
const judged =
  (read: ReadProduct, log2Error: number) =>
  (problem: CommittedProblem | null, live: number | null, doubts: readonly Doubt[]): CheckedProduct => {
    const operations = operationsOfWork(read.work)
    const liveShare = problem ? 0 : (live ?? 0)
    const credited = creditedOperations(operations, liveShare)
    const isDead = live !== null && credited === 0
    return {
      kind: 'product',
      problem: problem && { code: problem === 'WRONG_TENSOR' ? 'OTHER_TENSOR' : 'PROOF_WRONG', where: problem },
      doubts: [...doubts, ...(isDead ? [DEAD_WORK] : [])],
      read,
      figures: { operations, liveShare, credited, proofBytes: read.receipt.proof.length, log2Error },
    }
  }

/** Such a receipt as a signed file that anyone with A, B and C checks offline. */
export const issueProduct = (receipt: ProductReceipt, signer: Signer): Uint8Array =>
  sealReceipt(stateProductReceipt(receipt), signer)
