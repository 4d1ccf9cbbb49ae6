import type { Tier } from '../../core/attest/checkBundle.ts'
import { toHex } from '../../core/bytes/hex.ts'
import type { CheckedAttestation, CheckedCertificate, CheckedSummary } from '../../core/certificate/checkCertificate.ts'
import { DOUBTS, type Doubt } from '../../core/certificate/doubts.ts'
import type { CertificateProblem } from '../../core/certificate/problems.ts'
import type { ReadCertificate } from '../../core/certificate/readCertificate.ts'
import { type Checked, explainProblem, reportOfCheck } from '../../core/certificate/reportOfCheck.ts'
import { catalogueHash } from '../../core/identify/catalogueHash.ts'
import { explainReason } from '../../core/proof/reasons.ts'
import { formatAge, formatBytes, formatOps } from '../../core/units/format.ts'
import { toMillis } from '../../core/units/instants.ts'
import { TIERS } from '../render/attestedLines.ts'
import type { Colours } from '../render/terminal.ts'
import { verdictLines } from '../render/verdictLines.ts'

export interface ShownCheck extends Checked {
  readonly file: string
}

/** What a check found, for a person: whose it is and how old, what was recomputed, and the verdict by the reader's own rules. */
export function checkLines(shown: ShownCheck, colours: Colours): string[] {
  const { checked, file } = shown
  if (checked.problem) return problemLines(file, checked.problem, colours)
  if (checked.kind === 'attestation') return attestationLines(file, checked, colours)
  return checked.kind === 'summary' ? summaryLines(shown, checked, colours) : certificateLines(shown, checked, colours)
}

function certificateLines(
  { file, openings, catalogue, nowMs }: ShownCheck,
  { read, recomputed, doubts, ours, tier }: CheckedCertificate,
  colours: Colours,
): string[] {
  const { issuedAt, notAfter, judgement, claims } = read.statement.predicate
  const own = catalogueHash(catalogue)
  const same = judgement.catalogue === own ? 'yours too' : `yours ${own.slice(0, 16)}`
  const shown = { judgement: ours, preset: read.preset.name, faults: [], ...claims }
  return [
    `${colours.bold(colours.green('VALID'))} ${file}`,
    ...timeLines(issuedAt, notAfter, nowMs),
    ...whoLines(read),
    ...tierLines(read, tier),
    `  judged by catalogue ${judgement.catalogue.slice(0, 16)}, ${same}`,
    ...(recomputed ? [] : [colours.yellow("  the signer's catalogue is not available: this verdict uses yours alone")]),
    `  ${openings.checked} of ${openings.all} openings recomputed, all figures and signatures hold`,
    ...doubts.flatMap((doubt) => doubtLines(doubt, colours)),
    ...verdictLines(shown, catalogue, colours),
    colours.dim('  The signer vouches for the times, for the freshness of seeds and nonces, and'),
    colours.dim('  for the claims.'),
  ]
}

const timeLines = (issuedAt: string, notAfter: string | null, nowMs: number): string[] => [
  `  issued ${issuedAt}, ${formatAge((nowMs - toMillis(issuedAt)) / 1000)} ago`,
  ...(notAfter === null ? [] : [`  valid until ${notAfter}`]),
]

/** What the signer says, in a few lines. */
function summaryLines({ file, nowMs }: ShownCheck, { read, doubts }: CheckedSummary, colours: Colours): string[] {
  const { subject, predicate } = read.statement
  const { claim, memory, score } = predicate
  const models = predicate.models.map(({ name, count }) => `${count}x ${name ?? 'unknown'}`).join(', ')
  return [
    `${colours.bold('SUMMARY')} ${file}`,
    ...timeLines(predicate.issuedAt, predicate.notAfter, nowMs),
    `  run ${predicate.runId}`,
    `  prover ${subject[1].digest.ed25519}`,
    ...read.signerKeys.map((key) => `  signed by ${toHex(key)}`),
    `  certificate ${subject[0].digest.sha256}`,
    ...doubts.flatMap((doubt) => doubtLines(doubt, colours)),
    '',
    `  said           ${predicate.outcome}, ${models || 'no card'} (${predicate.preset})`,
    ...(claim ? [`  claim          ${claim.text}: ${claim.verdict}`] : []),
    ...Object.entries(predicate.rates).map(([name, rate]) => `  ${name.padEnd(14)} ${formatOps(rate)} together`),
    ...(memory ? [`  memory ${memory.status.padEnd(7)} ${formatBytes(memory.heldBytes)} together`] : []),
    ...(score === undefined ? [] : [`  score          ${score}`]),
  ]
}

function whoLines({ run, signerKeys, statement }: ReadCertificate): string[] {
  const { runId, proverKey, validatorKey } = run.challenge
  const { anchor } = statement.predicate
  const first = toHex(validatorKey)
  return [
    `  run ${toHex(runId)}`,
    `  prover ${toHex(proverKey)}`,
    ...signerKeys.map(toHex).map((key) => `  ${key === first ? 'signed by' : 'counter-signed by'} ${key}`),
    ...(anchor ? [`  anchored in ${anchor.chain}: look up the blocks there; this check did not`] : []),
  ]
}

/** Nothing is said where nothing attests: that is how most cards are. */
function tierLines({ statement }: ReadCertificate, tier: Tier | null): string[] {
  const { attestation } = statement.predicate
  if (!attestation) return []
  return [
    tier === null
      ? `  carries an attestation (${attestation.format}) that this version does not check`
      : `  attested, ${TIERS[tier]}`,
  ]
}

/** Evidence of a hardware vendor by itself: which chips, which software, and what that does not show. */
function attestationLines(file: string, { bundle, doubts }: CheckedAttestation, colours: Colours): string[] {
  return [
    `${colours.bold(colours.green('GENUINE'))} ${file} (tier ${bundle.tier})`,
    ...bundle.devices.map(
      ({ model, pdi, driver, vbios }) =>
        `  ${model} ${pdi}${driver === null ? '' : `, driver ${driver}`}${vbios === null ? '' : `, firmware ${vbios}`}`,
    ),
    ...(bundle.cpu ? [`  ${bundle.cpu.kind} image ${bundle.cpu.measurement}`] : []),
    ...doubts.flatMap((doubt) => doubtLines(doubt, colours)),
    colours.dim('  These chips signed this nonce. That they did any work, and where they stand, is not shown.'),
  ]
}

function doubtLines({ code, where }: Doubt, { bold, yellow, dim }: Colours): string[] {
  const { meaning, nextStep } = DOUBTS[code]
  return [
    `${bold(yellow('NOT ESTABLISHED'))} ${meaning}${where ? ` (${where})` : ''} [${code}]`,
    `${dim('next:')} ${nextStep}`,
  ]
}

function problemLines(file: string, problem: CertificateProblem, { bold, red, dim }: Colours): string[] {
  const { where, reason, got, expected, meaning, nextStep, code: own } = explainProblem(problem)
  const facts = [
    where,
    reason && explainReason(reason),
    got === undefined ? '' : `got ${got}`,
    expected === undefined ? '' : `expected ${expected}`,
  ]
  const detail = facts.filter(Boolean).join('; ')
  const code = reason?.code ?? own
  return [
    `${bold(red('REFUSED'))} ${file}: ${meaning}${detail ? ` (${detail})` : ''} [${code}]`,
    `${dim('next:')} ${nextStep}`,
  ]
}

/** The same for a script. */
export const checkJson = ({ file, ...checked }: ShownCheck) => ({ file, ...reportOfCheck(checked) })
