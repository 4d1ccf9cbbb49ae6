import type { CheckedCertificate, CheckOpenings, ReaderRules } from './checkCertificate.ts'
import { conclusionsDiffer } from './conclusionsDiffer.ts'
import type { Doubt } from './doubts.ts'
import { judgementProblem } from './judgementProblem.ts'
import type { Judgement } from './judgeRun.ts'
import { hollowRun, type ReadCertificate } from './readCertificate.ts'

/** What a certificate says must follow from its evidence, and a reader of today come to the same end. */
export async function checkRun(
  read: ReadCertificate,
  { catalogue }: ReaderRules,
  checkOpenings: CheckOpenings,
): Promise<CheckedCertificate> {
  const judged = judgementProblem(read, catalogue, await checkOpenings(read.run))
  const doubts = judged.problem ? [] : judgementDoubts(read, judged.ours)
  return { kind: 'certificate', read, doubts, ...judged }
}

function judgementDoubts(read: ReadCertificate, ours: Judgement): Doubt[] {
  const stated = read.statement.predicate.judgement
  const differ = conclusionsDiffer(stated, ours)
  if (differ.length > 0) {
    const sameCatalogue = stated.catalogue === ours.catalogue
    return [{ code: sameCatalogue ? 'RULES_DIFFER' : 'CATALOGUES_DIFFER', where: differ.join(', ') }]
  }
  const verdict = stated.claim?.verdict ?? 'matches'
  if (verdict === 'unproven') return [{ code: 'CLAIM_UNPROVEN' }]
  // That it is not as claimed holds all the same.
  const hollow = verdict === 'matches' ? hollowRun(read) : null
  return hollow === null ? [] : [{ code: 'RULES_DIFFER', where: hollow }]
}
