import { workNonce } from '../../core/attest/binding.ts'
import { equalBytes } from '../../core/bytes/bytes.ts'
import { CLOCK_SKEW_MS, type ReaderRules } from '../../core/certificate/checkCertificate.ts'
import { takeApart } from '../../core/certificate/envelope.ts'
import { isProblem, PROBLEMS } from '../../core/certificate/problems.ts'
import { openEvidence } from '../../core/certificate/readEvidence.ts'
import { provenKind, receiptKind } from '../../core/certificate/receiptEvidence.ts'
import { isWatcher, standingOf } from '../../core/certificate/signers.ts'
import { toMillis } from '../../core/units/instants.ts'
import { PROVEN_TYPE, WORK_TYPE } from '../../core/work/receipt.ts'
import { linksOf } from '../../core/work/stateChain.ts'
import { fault } from '../faults.ts'
import { readGiven } from './readGiven.ts'

/**
 * W11. What hardware must have signed to belong to the work of a receipt, which somebody signed whose word is beyond doubt
 * (attack 244). Whether that work was shown is another check.
 */
export async function nonceOfReceipt(
  file: string,
  { trusted, revocations }: Pick<ReaderRules, 'trusted' | 'revocations'>,
  nowMs: number,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const trusts = (key: Uint8Array) => trusted.some((other) => equalBytes(other, key))
  const given = await readGiven(file, signal)
  const neverRun = () => Promise.reject(new Error('nothing of it is recomputed here'))
  const opened = isProblem(given)
    ? given
    : openEvidence(takeApart(given), trusts, undefined, {
        [WORK_TYPE]: receiptKind(neverRun),
        [PROVEN_TYPE]: provenKind(neverRun),
      })
  if (isProblem(opened))
    throw fault('NOT_A_RECEIPT', { file, why: `${PROBLEMS[opened.code].meaning} [${opened.code}]` })
  const { read } = opened
  if (read.kind !== 'receipt') throw fault('NOT_A_RECEIPT', { file, why: 'it is something else' })
  const { proverKey, firstRoot, marks, issuedAt, notAfter, drawnBy } = read.receipt
  const isGood = (key: Uint8Array) => trusts(key) && standingOf(key, issuedAt, revocations) === 'good'
  if (!read.signerKeys.some(isGood))
    throw fault('NOT_A_RECEIPT', { file, why: 'its signer was revoked or replaced [SIGNER_REVOKED]' })
  // Who chose the work, its order and its seed alone had it signed whenever a chip was at hand (attack 417).
  const isWatched = (key: Uint8Array) => trusts(key) && isWatcher(key, proverKey, issuedAt, revocations)
  if (drawnBy !== 'listener' || !read.signerKeys.some(isWatched))
    throw fault('NOT_A_RECEIPT', { file, why: 'nobody you trust but its prover watched [SELF_DRAWN]' })
  // It speaks for when the evidence was made only while it is valid (attack 423).
  const ageMs = nowMs - toMillis(issuedAt)
  const code = ageMs < -CLOCK_SKEW_MS ? 'FROM_THE_FUTURE' : nowMs > toMillis(notAfter) ? 'EXPIRED' : null
  if (code) throw fault('NOT_A_RECEIPT', { file, why: `it is not of this time [${code}]` })
  const { workId, ends } = read.work
  const links = linksOf(
    workId,
    firstRoot,
    marks.map((mark, i) => ({ ...mark, transition: ends[i] ?? 0 })),
  )
  return workNonce(workId, proverKey, links.at(-1)!)
}
