import { takeApart } from '../../core/certificate/envelope.ts'
import { isProblem, PROBLEMS } from '../../core/certificate/problems.ts'
import { productKind } from '../../core/certificate/productEvidence.ts'
import { openEvidence } from '../../core/certificate/readEvidence.ts'
import { provenKind, receiptKind } from '../../core/certificate/receiptEvidence.ts'
import { PRODUCT_TYPE } from '../../core/work/methods/sumcheck/productReceipt.ts'
import { PROVEN_TYPE, WORK_TYPE } from '../../core/work/receipt.ts'
import { fault } from '../faults.ts'

const neverRun = () => Promise.reject(new Error('what was just recomputed is not recomputed again'))

const KINDS = {
  [WORK_TYPE]: receiptKind(neverRun),
  [PROVEN_TYPE]: provenKind(neverRun),
  [PRODUCT_TYPE]: productKind(null),
}

/** Whatever whoever worked may have said: a receipt that every reader refuses is no receipt (attack 299). */
export function requireReadable(receipt: Uint8Array): void {
  const read = openEvidence(takeApart(receipt), () => true, undefined, KINDS)
  if (!isProblem(read)) return
  const { code, where = '' } = read
  throw fault('RECEIPT_UNREADABLE', { code, why: `${PROBLEMS[code].meaning}${where && ` (${where})`}` })
}
