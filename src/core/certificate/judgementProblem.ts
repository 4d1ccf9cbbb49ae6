import { canonicalJson } from '../bytes/canonicalJson.ts'
import { type Catalogue, catalogueHash } from '../identify/catalogue.ts'
import { countCards } from '../identify/countCards.ts'
import { PROTOCOL_VERSION, type ProtocolVersion } from '../params/constants.ts'
import { inferred } from '../params/provenance.ts'
import { isReadInTurns } from '../proof/partKinds.ts'
import type { RejectReason } from '../proof/reasons.ts'
import type { StatedJudgement } from './judgementSchema.ts'
import { type JudgeInputs, type Judgement, judgeRun } from './judgeRun.ts'
import type { CertificateProblem } from './problems.ts'
import type { ReadCertificate } from './readCertificate.ts'

export interface JudgementCheck {
  readonly problem: CertificateProblem | null
  /** False when the certificate was judged with another catalogue: identity is then the signer's word. */
  readonly recomputed: boolean
  /** By today's rules and the reader's catalogue. */
  readonly ours: Judgement
}

/** What follows from the evidence of a certificate, by these rules and this catalogue, for a box that was sold as this. */
export function judgeCertificate(
  { statement, run, preset }: ReadCertificate,
  catalogue: Catalogue,
  rules: ProtocolVersion,
  claim: string | null = statement.predicate.claims.text,
  asBefore?: JudgeInputs['asBefore'],
): Judgement {
  const { claims, roundTripUs } = statement.predicate
  const deviceClasses = claims.inventory.devices.map((device) => device.class)
  const offered = claims.inventory.devices.map(({ precisions }) => precisions)
  const context = { catalogue, claim, roundTripUs, rejected: null, rules, asBefore }
  return judgeRun({ run, preset, deviceClasses, offered, ...context })
}

/** The judgement must follow from the evidence; a rejection by the conduct of the run is the signer's word. */
export function judgementProblem(
  read: ReadCertificate,
  readersCatalogue: Catalogue,
  found: RejectReason | null,
): JudgementCheck {
  const stated = read.statement.predicate.judgement
  // Since version 2 the catalogue travels with the judgement; before, it was recomputed by whoever had the same one.
  const catalogue = read.catalogue ?? readersCatalogue
  const hash = catalogueHash(catalogue)
  // Memories of several devices that were read in turns were judged before that was thought of (attack 465): no forgery, and
  // a doubt where today's rules say otherwise.
  const isOlder = read.run.challenge.parts.some(isReadInTurns)
  const judgedBefore = (attack?: JudgeInputs['asBefore']) =>
    judgeCertificate(read, catalogue, read.version, undefined, attack)
  const judged = judgedBefore(isOlder ? 465 : undefined)
  const sameRules = read.version === PROTOCOL_VERSION && !isOlder && hash === catalogueHash(readersCatalogue)
  const ours = sameRules ? judged : judgeCertificate(read, readersCatalogue, PROTOCOL_VERSION)
  if (stated.reason) return { problem: { code: 'RUN_REJECTED', reason: stated.reason }, recomputed: false, ours }
  if (found) return { problem: { code: 'EVIDENCE_REJECTED', reason: found }, recomputed: true, ours }
  const recomputed = stated.catalogue === hash
  const expected = recomputed ? judged : withStatedInferences(judged, stated)
  const isStated = (one: StatedJudgement) => canonicalJson(one) === canonicalJson(stated)
  const isCountedWithMemory = (one: Judgement) => isStated({ ...one, count: countedWithMemory(one, catalogue) })
  const isFromBefore = (one: Judgement) => isStated(one) || isCountedWithMemory(one)
  // Counting may take long, with a catalogue of a stranger's (attack 117): each way only where those before it differ.
  const same =
    isStated(expected) || (read.version > 1 && (isCountedWithMemory(judged) || isFromBefore(judgedBefore(506))))
  return { problem: same ? null : { code: 'WRONG_JUDGEMENT' }, recomputed, ours }
}

/** As it was stated before attack 402: no forgery, and where it is more than today's count a doubt. */
function countedWithMemory({ devices }: Judgement, catalogue: Catalogue): Judgement['count'] {
  const totals = devices.map(({ rates, memory }) => ({
    rates,
    memoryBytes: memory?.status === 'proven' ? memory.heldBytes : (memory?.floorBytes ?? inferred(0)),
  }))
  return countCards(totals, catalogue, PROTOCOL_VERSION, true)
}

/** C7, version 1: what only the other catalogue could tell is taken as stated; everything else must still follow. */
function withStatedInferences(judged: Judgement, stated: StatedJudgement): StatedJudgement {
  const { catalogue, claim } = stated
  const inferred = judged.devices.some(
    ({ identity }) => identity.status === 'identified' || identity.status === 'unknown',
  )
  const devices = judged.devices.map((device, i) => {
    const { identity, memory } = stated.devices[i] ?? device
    if (device.identity.status === 'cpu') return device
    const known = device.memory && memory ? { ...device.memory, floorBytes: memory.floorBytes } : device.memory
    if (device.identity.status === 'insecure') return { ...device, memory: known }
    return { ...device, identity, memory: known && memory ? { ...known, status: memory.status } : known }
  })
  const undersized = judged.reason?.code === 'UNDERSIZED_RUN' ? { outcome: stated.outcome, reason: stated.reason } : {}
  const claimed = judged.claim && claim ? { ...claim, text: judged.claim.text } : judged.claim
  return { ...judged, ...undersized, catalogue, devices, count: inferred ? stated.count : judged.count, claim: claimed }
}
