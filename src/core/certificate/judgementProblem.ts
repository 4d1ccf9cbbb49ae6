import type { Catalogue } from '../identify/catalogue.ts'
import { catalogueHash } from '../identify/catalogueHash.ts'
import type { RejectReason } from '../proof/reasons.ts'
import { judgeRun } from './judgeRun.ts'
import type { CertificateProblem } from './problems.ts'
import type { ReadCertificate } from './readCertificate.ts'

export interface JudgementCheck {
  readonly problem: CertificateProblem | null
  /** False when the certificate was judged with another catalogue: identity is then the signer's word. */
  readonly recomputed: boolean
}

/** The judgement must follow from the evidence; a rejection by the conduct of the run is the signer's word. */
export function judgementProblem(
  { statement, run, preset }: ReadCertificate,
  catalogue: Catalogue,
  found: RejectReason | null,
): JudgementCheck {
  const stated = statement.predicate.judgement
  if (found !== null && stated.outcome === 'accepted')
    return { problem: { code: 'EVIDENCE_REJECTED', reason: found }, recomputed: true }
  if (stated.outcome === 'rejected')
    return { problem: { code: 'RUN_REJECTED', reason: stated.reason as unknown as RejectReason }, recomputed: false }
  if (stated.catalogue !== catalogueHash(catalogue)) return { problem: null, recomputed: false }
  const { inventory, text } = statement.predicate.claims
  const kinds = inventory.devices.map(({ kind }) => kind)
  const judged = judgeRun({ run, preset, kinds, catalogue, claim: text, rejected: null })
  const same = JSON.stringify(judged) === JSON.stringify(stated)
  return { problem: same ? null : { code: 'WRONG_JUDGEMENT' }, recomputed: true }
}
