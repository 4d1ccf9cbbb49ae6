import { canonicalJson } from '../bytes/canonicalJson.ts'
import type { Catalogue } from '../identify/catalogue.ts'
import { catalogueHash } from '../identify/catalogueHash.ts'
import type { ProtocolVersion } from '../params/constants.ts'
import type { RejectReason } from '../proof/reasons.ts'
import { type Judgement, judgeRun } from './judgeRun.ts'
import type { CertificateProblem } from './problems.ts'
import type { ReadCertificate } from './readCertificate.ts'

export interface JudgementCheck {
  readonly problem: CertificateProblem | null
  /** False when the certificate was judged with another catalogue: identity is then the signer's word. */
  readonly recomputed: boolean
}

/** What follows from the evidence of a certificate, by these rules and this catalogue. */
export function judgeCertificate(
  { statement, run, preset }: ReadCertificate,
  catalogue: Catalogue,
  rules: ProtocolVersion,
): Judgement {
  const { claims, roundTripUs } = statement.predicate
  const deviceClasses = claims.inventory.devices.map((device) => device.class)
  const offered = claims.inventory.devices.map(({ precisions }) => precisions)
  const claim = claims.text
  return judgeRun({ run, preset, deviceClasses, offered, catalogue, claim, roundTripUs, rejected: null, rules })
}

/** The judgement must follow from the evidence; a rejection by the conduct of the run is the signer's word. */
export function judgementProblem(
  read: ReadCertificate,
  readersCatalogue: Catalogue,
  found: RejectReason | null,
): JudgementCheck {
  const stated = read.statement.predicate.judgement
  if (found !== null && stated.outcome === 'accepted')
    return { problem: { code: 'EVIDENCE_REJECTED', reason: found }, recomputed: true }
  if (stated.outcome === 'rejected')
    return { problem: { code: 'RUN_REJECTED', reason: stated.reason as unknown as RejectReason }, recomputed: false }
  // Since version 2 the catalogue travels with the judgement; before, it was recomputed by whoever had the same one.
  const catalogue = read.catalogue ?? readersCatalogue
  const judged = judgeCertificate(read, catalogue, read.version)
  const recomputed = stated.catalogue === catalogueHash(catalogue)
  const expected = recomputed ? judged : withStatedInferences(judged, stated as unknown as Judgement)
  const same = canonicalJson(expected) === canonicalJson(stated)
  return { problem: same ? null : { code: 'WRONG_JUDGEMENT' }, recomputed }
}

/** C7, version 1: what only the other catalogue could tell is taken as stated; everything else must still follow. */
function withStatedInferences(judged: Judgement, stated: Judgement): Judgement {
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
