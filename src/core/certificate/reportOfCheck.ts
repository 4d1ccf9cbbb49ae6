import { toHex } from '../bytes/hex.ts'
import { type Catalogue, catalogueHash } from '../identify/catalogue.ts'
import { toMillis } from '../units/instants.ts'
import type {
  CheckedAnswer,
  CheckedAttestation,
  CheckedCertificate,
  CheckedEvidence,
  CheckedProduct,
  CheckedReceipt,
  ReaderRules,
} from './checkCertificate.ts'
import { DOUBTS } from './doubts.ts'
import { type CertificateProblem, PROBLEMS } from './problems.ts'
import type { CheckReport } from './reportSchemas.ts'
import { countedKeys } from './signers.ts'
import { askedDevicesOf, placeOf } from './statement.ts'
import { REPORT_FORMAT, verdictOfCheck } from './verdict.ts'

/** How many openings there are and how many of them were recomputed. */
export interface OpeningCount {
  readonly all: number
  readonly checked: number
}

/** A check, and what its reader brought along. */
export interface Checked extends Pick<ReaderRules, 'trusted' | 'revocations'> {
  readonly checked: CheckedEvidence
  readonly openings: OpeningCount
  /** The file lacked its last line end, and was read as if it had it. */
  readonly newlineAdded: boolean
  /** The reader's. */
  readonly catalogue: Catalogue
  readonly nowMs: number
}

/**
 * What a check found, as plain values with their meaning: for a script, a page or another program. `inWords` turns a
 * sentence, which names flags of the command line, into the reader's own.
 */
export function reportOfCheck(
  { checked, openings, newlineAdded, catalogue, nowMs, ...reader }: Checked,
  inWords = (text: string) => text,
): CheckReport {
  const told = <T extends { readonly meaning: string; readonly nextStep: string }>(one: T): T => ({
    ...one,
    meaning: inWords(one.meaning),
    nextStep: inWords(one.nextStep),
  })
  const base = {
    format: REPORT_FORMAT,
    verdict: verdictOfCheck(checked),
    valid: checked.problem === null,
    openings: openings.all,
    openingsChecked: openings.checked,
    newlineAdded,
  } as const
  if (checked.kind === 'refused') return { kind: checked.kind, ...base, problem: told(explainProblem(checked.problem)) }
  const { doubts } = checked
  const held = {
    ...base,
    established: checked.problem === null && doubts.length === 0,
    doubts: doubts.map((doubt) => told({ ...doubt, ...DOUBTS[doubt.code] })),
  }
  if (checked.kind === 'attestation') return { kind: checked.kind, ...held, ...ofAttestation(checked) }
  const { read } = checked
  const { issuedAt, startedAt, notAfter } = read.statement.predicate
  const signed = {
    ...held,
    ...(checked.problem ? { problem: told(explainProblem(checked.problem)) } : {}),
    issuedAt,
    startedAt,
    notAfter,
    ageSeconds: Math.floor((nowMs - toMillis(issuedAt)) / 1000),
    prover: read.statement.subject[1].digest.ed25519,
    signers: read.signerKeys.map(toHex),
    signersCounted: countedKeys(read.signerKeys, issuedAt, reader).map(toHex),
  }
  if (checked.kind === 'receipt') return { kind: checked.kind, ...signed, ...ofReceipt(checked) }
  if (checked.kind === 'product') return { kind: checked.kind, ...signed, ...ofProduct(checked) }
  if (checked.kind === 'answer') return { kind: checked.kind, ...signed, ...ofAnswer(checked) }
  return checked.kind === 'summary'
    ? { kind: checked.kind, ...signed, summary: checked.read.statement }
    : { kind: checked.kind, ...signed, ...ofCertificate(checked, catalogue) }
}

/** What is wrong, and what to do. A vendor's evidence has reasons of its own. */
export const explainProblem = ({ refusal, ...problem }: CertificateProblem) =>
  refusal ? { ...problem, ...refusal } : { ...problem, ...PROBLEMS[problem.code] }

const ofAttestation = ({ bundle }: CheckedAttestation) => ({
  tier: bundle.tier,
  devices: bundle.devices.map(({ arch, model, pdi, driver, vbios }) => ({ arch, model, pdi, driver, vbios })),
  cpu: bundle.cpu && { kind: bundle.cpu.kind, measurement: bundle.cpu.measurement },
})

const ofReceipt = ({ read, figures, guarantees, isResultTied, areInputsTied, clock }: CheckedReceipt) => ({
  resultTied: isResultTied,
  inputsTied: areInputsTied,
  clock,
  work: { id: toHex(read.receipt.workId), kind: read.work.spec.kind, drawnBy: read.receipt.drawnBy, ...figures },
  device: read.receipt.device,
  guarantees,
})

const ofProduct = ({ read, figures }: CheckedProduct) => ({
  product: { rows: read.product.rows, columns: read.product.columns, k: read.product.k },
  work: { id: toHex(read.receipt.workId), kind: read.work.spec.kind, method: 'sumcheck' as const, ...figures },
  codes: read.receipt.codes?.map(toHex) ?? null,
  device: read.receipt.device,
})

const ofAnswer = ({ read: { receipt } }: CheckedAnswer) => ({
  model: toHex(receipt.modelId),
  classes: receipt.product.rows,
  inputs: receipt.product.columns,
  proofBytes: receipt.proof.length,
})

function ofCertificate({ read, answer, recomputed, tier, problem }: CheckedCertificate, catalogue: Catalogue) {
  const judgement = read.statement.predicate.judgement
  return {
    version: read.version,
    tier,
    runId: toHex(read.run.challenge.runId),
    signer: toHex(read.run.challenge.validatorKey),
    preset: read.preset.name,
    address: placeOf(read.statement.predicate),
    askedDevices: askedDevicesOf(read.statement.predicate),
    catalogues: { signer: judgement.catalogue, reader: catalogueHash(catalogue) },
    identityRecomputed: recomputed,
    models: problem ? [] : answer.devices.map(({ identity }) => identity.model),
    judgement,
    readerJudgement: problem ? null : answer,
  }
}
