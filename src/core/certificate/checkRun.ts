import { buyerName } from '../identify/buyerName.ts'
import type { Catalogue } from '../identify/catalogue.ts'
import { PROTOCOL_VERSION } from '../params/constants.ts'
import { toMillis } from '../units/instants.ts'
import { type AttestedRun, attestedRun, NOT_ATTESTED } from './attestedRun.ts'
import type { CheckedCertificate, CheckOpenings, ReaderRules } from './checkCertificate.ts'
import type { Doubt } from './doubts.ts'
import { judgeCertificate, judgementProblem } from './judgementProblem.ts'
import { cardsOf, type StatedJudgement } from './judgementSchema.ts'
import type { Judgement } from './judgeRun.ts'
import { hollowRun, type ReadCertificate } from './readCertificate.ts'

/** What a certificate says must follow from its evidence, and a reader of today come to the same end. */
export async function checkRun(
  read: ReadCertificate,
  rules: ReaderRules,
  checkOpenings: CheckOpenings,
): Promise<CheckedCertificate> {
  const found = await checkOpenings(read.run)
  if (found !== null && typeof found?.code !== 'string') throw new TypeError('checkOpenings: null, or what is wrong')
  const judged = judgementProblem(read, rules.catalogue, found)
  const { catalogue, claim } = rules
  const isReadersClaim = claim !== undefined
  const answer = isReadersClaim ? judgeCertificate(read, catalogue, PROTOCOL_VERSION, claim) : judged.ours
  const attested = await checkAttested(read, rules, answer)
  const { tier, refusal } = attested
  const problem = judged.problem ?? (refusal ? { code: 'ATTESTATION_REFUSED', refusal } : null)
  const doubts = [...judgementDoubts(read, judged.ours, answer, catalogue), ...failedDoubts(read), ...attested.doubts]
  return { kind: 'certificate', read, ...judged, answer, isReadersClaim, problem, doubts: problem ? [] : doubts, tier }
}

async function checkAttested(
  { run, statement }: ReadCertificate,
  { attestation, catalogue }: ReaderRules,
  judgement: Judgement,
): Promise<AttestedRun> {
  const { attestation: carried, claims, issuedAt } = statement.predicate
  if (!carried) return NOT_ATTESTED
  const deviceClasses = claims.inventory.devices.map((device) => device.class)
  return attestedRun(carried, { run, deviceClasses, atMs: toMillis(issuedAt), judgement }, attestation, catalogue)
}

function judgementDoubts(read: ReadCertificate, ours: Judgement, answer: Judgement, catalogue: Catalogue): Doubt[] {
  const stated = read.statement.predicate.judgement
  const differ = conclusionsDiffer(stated, ours, catalogue)
  if (differ.length > 0) {
    const sameCatalogue = stated.catalogue === ours.catalogue
    return [{ code: sameCatalogue ? 'RULES_DIFFER' : 'CATALOGUES_DIFFER', where: differ.join(', ') }]
  }
  const verdict = answer.claim?.verdict ?? 'matches'
  if (verdict === 'unproven') return [{ code: 'CLAIM_UNPROVEN' }]
  // That it is not as claimed holds all the same.
  const hollow = verdict === 'matches' ? hollowRun(read) : null
  return hollow === null ? [] : [{ code: 'RULES_DIFFER', where: hollow }]
}

/** A box chooses what fails, and drew its rates anew each time (attack 376). */
function failedDoubts({ statement }: ReadCertificate): Doubt[] {
  const { faults = [], inventory } = statement.predicate.claims
  const failed = faults.length + (inventory.host.gpuFaults ? 1 : 0)
  return failed === 0 ? [] : [{ code: 'DEVICE_FAILED', where: `${failed} that failed` }]
}

/**
 * Where two judgements of one run come to another conclusion: what a buyer would act on. Shares, expected ranges and
 * reasons may differ, and of cards that measure alike either may be named first.
 */
function conclusionsDiffer(stated: StatedJudgement, ours: StatedJudgement, catalogue: Catalogue): string[] {
  const differs = [
    { what: 'outcome', differ: stated.outcome !== ours.outcome },
    { what: 'claim', differ: stated.claim?.verdict !== ours.claim?.verdict },
    { what: 'count', differ: isMore(stated.count, ours.count) },
    ...stated.devices.flatMap((device, i) => {
      const other = ours.devices[i]
      if (!other) return [{ what: `device ${i}`, differ: true }]
      return [
        { what: `device ${i} identity`, differ: !sameCard(device.identity, other.identity, catalogue) },
        { what: `device ${i} memory`, differ: device.memory?.status === 'proven' && other.memory?.status !== 'proven' },
      ]
    }),
  ]
  return differs.filter(({ differ }) => differ).map(({ what }) => what)
}

/** More cards than the reader finds: established, or at the least (attack 115). */
const isMore = (stated: StatedJudgement['count'], ours: StatedJudgement['count']): boolean =>
  (stated.established && !ours.established) || stated.least > ours.least

type Identity = StatedJudgement['devices'][number]['identity']

/** The signer said nothing about a card he did not know: that the reader knows it by now is not a contradiction. */
function sameCard(stated: Identity, ours: Identity, catalogue: Catalogue): boolean {
  if (stated.status === 'unknown') return ours.status === 'unknown' || ours.status === 'identified'
  if (stated.status !== ours.status) return false
  const known = cardsOf(stated)
  const found = cardsOf(ours)
  if (known.length === 0) return found.length === 0
  // A name is what people read: it must be the reader's own for these cards (attack 130). Version 1 had ids.
  const isNamed = stated.cards === undefined || [ours.model, buyerName(known, catalogue)].includes(stated.model)
  return isNamed && known.some((id) => found.includes(id))
}
