import { toHex } from '../../core/bytes/hex.ts'
import type { CheckedCertificate, CheckedEvidence, CheckedSummary } from '../../core/certificate/checkCertificate.ts'
import { DOUBTS, type Doubt } from '../../core/certificate/doubts.ts'
import { type CertificateProblem, PROBLEMS } from '../../core/certificate/problems.ts'
import type { ReadCertificate } from '../../core/certificate/readCertificate.ts'
import type { Catalogue } from '../../core/identify/catalogue.ts'
import { catalogueHash } from '../../core/identify/catalogueHash.ts'
import { explainReason } from '../../core/proof/reasons.ts'
import { formatAge, formatBytes, formatOps } from '../../core/units/format.ts'
import { toMillis } from '../../core/units/instants.ts'
import { showVerdict } from './showVerdict.ts'
import type { Terminal } from './terminal.ts'

/** How many openings there are and how many of them were recomputed. */
export interface OpeningCount {
  all: number
  checked: number
}

export interface ShownCheck {
  readonly file: string
  readonly checked: CheckedEvidence
  readonly openings: OpeningCount
  /** The reader's. */
  readonly catalogue: Catalogue
  readonly nowMs: number
}

/** What a check found, for a person: whose it is and how old, what was recomputed, and the verdict by the reader's own rules. */
export function showCheck(shown: ShownCheck, terminal: Terminal): void {
  const { checked, file } = shown
  if (checked.kind === 'refused' || checked.problem) showProblem(file, checked.problem!, terminal)
  else if (checked.kind === 'summary') showSummary(shown, checked, terminal)
  else showCertificate(shown, checked, terminal)
}

function showCertificate(
  { file, openings, catalogue, nowMs }: ShownCheck,
  checked: CheckedCertificate,
  terminal: Terminal,
): void {
  const { line, colours } = terminal
  const { statement, preset } = checked.read
  const { inventory, telemetry, faults = [] } = statement.predicate.claims
  const { issuedAt, notAfter } = statement.predicate
  line(`${colours.bold(colours.green('VALID'))} ${file}`)
  line(`  issued ${issuedAt}, ${formatAge((nowMs - toMillis(issuedAt)) / 1000)} ago`)
  if (notAfter !== null) line(`  valid until ${notAfter}`)
  showWho(checked.read, terminal)
  showCatalogues(checked, catalogue, terminal)
  line(`  ${openings.checked} of ${openings.all} openings recomputed, all figures and signatures hold`)
  for (const doubt of checked.doubts) showDoubt(doubt, terminal)
  const shown = { preset: preset.name, devices: inventory.devices, host: inventory.host, catalogue, telemetry, faults }
  showVerdict({ judgement: checked.ours, ...shown }, terminal)
  line(colours.dim('  The signer vouches for the times, for the freshness of seeds and nonces, and'))
  line(colours.dim('  for the claims.'))
}

/** What the signer says, in a few lines. */
function showSummary({ file, nowMs }: ShownCheck, { read, doubts }: CheckedSummary, terminal: Terminal): void {
  const { line, colours } = terminal
  const { subject, predicate } = read.statement
  line(`${colours.bold('SUMMARY')} ${file}`)
  line(`  issued ${predicate.issuedAt}, ${formatAge((nowMs - toMillis(predicate.issuedAt)) / 1000)} ago`)
  line(`  valid until ${predicate.notAfter}`)
  line(`  run ${predicate.runId}`)
  line(`  prover ${subject[1].digest.ed25519}`)
  for (const key of read.signerKeys) line(`  signed by ${toHex(key)}`)
  line(`  certificate ${subject[0].digest.sha256}`)
  for (const doubt of doubts) showDoubt(doubt, terminal)
  line('')
  const models = predicate.models.map(({ name, count }) => `${count}x ${name ?? 'unknown'}`).join(', ')
  const { claim, memory } = predicate
  line(`  said           ${predicate.outcome}, ${models || 'no card'} (${predicate.preset})`)
  if (claim) line(`  claim          ${claim.text}: ${claim.verdict}`)
  for (const [name, rate] of Object.entries(predicate.rates)) line(`  ${name.padEnd(14)} ${formatOps(rate)} together`)
  if (memory) line(`  memory ${memory.status.padEnd(7)} ${formatBytes(memory.heldBytes)} together`)
  if (predicate.score !== undefined) line(`  score          ${predicate.score}`)
}

function showWho({ run, signerKeys, statement }: ReadCertificate, { line }: Terminal): void {
  const { runId, proverKey, validatorKey } = run.challenge
  const { anchor, attestation } = statement.predicate
  line(`  run ${toHex(runId)}`)
  line(`  prover ${toHex(proverKey)}`)
  for (const key of signerKeys)
    line(`  ${toHex(key) === toHex(validatorKey) ? 'signed by' : 'counter-signed by'} ${toHex(key)}`)
  if (anchor) line(`  anchored in ${anchor.chain}: look up the blocks there; this check did not`)
  if (attestation) line(`  carries an attestation (${attestation.format}) that this version does not check`)
}

function showCatalogues(
  { read, recomputed }: CheckedCertificate,
  catalogue: Catalogue,
  { line, colours }: Terminal,
): void {
  const signers = read.statement.predicate.judgement.catalogue
  const ours = catalogueHash(catalogue)
  const same = signers === ours ? 'yours too' : `yours ${ours.slice(0, 16)}`
  line(`  judged by catalogue ${signers.slice(0, 16)}, ${same}`)
  if (!recomputed) line(colours.yellow("  the signer's catalogue is not available: this verdict uses yours alone"))
}

function showDoubt({ code, where }: Doubt, { line, colours }: Terminal): void {
  const { meaning, nextStep } = DOUBTS[code]
  line(`${colours.bold(colours.yellow('NOT ESTABLISHED'))} ${meaning}${where ? ` (${where})` : ''} [${code}]`)
  line(`${colours.dim('next:')} ${nextStep}`)
}

function showProblem(file: string, problem: CertificateProblem, { line, colours }: Terminal): void {
  const facts = [
    problem.where,
    problem.reason ? explainReason(problem.reason) : undefined,
    problem.got === undefined ? undefined : `got ${problem.got}`,
    problem.expected === undefined ? undefined : `expected ${problem.expected}`,
  ]
  const detail = facts.filter((fact) => fact !== undefined && fact !== '').join('; ')
  const { meaning, nextStep } = PROBLEMS[problem.code]
  const code = problem.reason?.code ?? problem.code
  line(`${colours.bold(colours.red('REFUSED'))} ${file}: ${meaning}${detail ? ` (${detail})` : ''} [${code}]`)
  line(`${colours.dim('next:')} ${nextStep}`)
}

/** The same for a script. */
export function checkJson({ file, checked, openings, catalogue, nowMs }: ShownCheck) {
  const base = { file, valid: checked.problem === null, openings: openings.all, openingsChecked: openings.checked }
  const problem = checked.problem && { ...checked.problem, ...PROBLEMS[checked.problem.code] }
  if (checked.kind === 'refused') return { ...base, problem }
  const { read, doubts } = checked
  const { issuedAt, startedAt, notAfter } = read.statement.predicate
  const common = {
    ...base,
    ...(problem ? { problem } : {}),
    kind: checked.kind,
    established: problem === null && doubts.length === 0,
    doubts: doubts.map((doubt) => ({ ...doubt, ...DOUBTS[doubt.code] })),
    issuedAt,
    startedAt,
    notAfter,
    ageSeconds: Math.floor((nowMs - toMillis(issuedAt)) / 1000),
    prover: read.statement.subject[1].digest.ed25519,
    signers: read.signerKeys.map(toHex),
  }
  if (checked.kind === 'summary') return { ...common, summary: read.statement }
  return { ...common, ...certificateJson(checked, catalogue) }
}

function certificateJson({ read, ours, recomputed }: CheckedCertificate, catalogue: Catalogue) {
  const judgement = read.statement.predicate.judgement
  return {
    version: read.version,
    runId: toHex(read.run.challenge.runId),
    signer: toHex(read.run.challenge.validatorKey),
    preset: read.preset.name,
    catalogues: { signer: judgement.catalogue, reader: catalogueHash(catalogue) },
    identityRecomputed: recomputed,
    models: ours.devices.map(({ identity }) => identity.model),
    judgement,
    readerJudgement: ours,
  }
}
