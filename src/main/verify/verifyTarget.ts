import { requireClaim } from '../../apps/shared/requireClaim.ts'
import { type Ask, askOf } from '../../apps/validator/askOf.ts'
import {
  type BoxReport,
  type Step,
  type VerifyDeps,
  type VerifyOptions,
  verifyBox,
} from '../../apps/validator/verifyBox.ts'
import { attestationReader } from '../../core/attest/attestationReader.ts'
import { boxWords } from '../../core/bytes/boxWords.ts'
import type { Signer } from '../../core/bytes/ed25519.ts'
import { toHex } from '../../core/bytes/hex.ts'
import { isProblem } from '../../core/certificate/problems.ts'
import { readCertificate } from '../../core/certificate/readEvidence.ts'
import { issueSummary } from '../../core/certificate/summary.ts'
import { REPORT_FORMAT, type Verdict } from '../../core/certificate/verdict.ts'
import type { Catalogue } from '../../core/identify/catalogue.ts'
import type { Claim } from '../../core/identify/parseClaim.ts'
import type { Inventory } from '../../core/inventory/inventory.ts'
import { MAX_VERIFY_SECONDS } from '../../core/lease/leaseBook.ts'
import { formatBytes, formatSeconds } from '../../core/units/format.ts'
import { namedDevices } from '../../drivers/gpu/openDevices.ts'
import { openWalkChecker } from '../../drivers/host/openWalkChecker.ts'
import { ensureApart, writeAside } from '../../drivers/system/writeAside.ts'
import { openThreadedChecker } from '../../drivers/verifier/openThreadedChecker.ts'
import type { RemoteBox } from '../../ports/remoteBox.ts'
import { type AttestationFiles, attestationRules, vendorFiles, vendorOption } from '../attestationRules.ts'
import { checkAddress, openBox, proverArguments } from '../boxes/openBox.ts'
import type { SshFlags } from '../boxes/sshFlags.ts'
import { exitOfReport } from '../exitCodes.ts'
import { fault } from '../faults.ts'
import { type Answer, answerLines, answerOf, closingLines, leftOutOf, soldText } from '../render/answer.ts'
import { attestedAnswer } from '../render/attestedAnswer.ts'
import { attestedLines } from '../render/attestedLines.ts'
import { boxLines } from '../render/boxLines.ts'
import { labelled } from '../render/labelled.ts'
import { bar, showSteps } from '../render/showSteps.ts'
import { openTerminal, type Terminal } from '../render/terminal.ts'
import { failedDevices, verdictLines } from '../render/verdictLines.ts'
import type { CommandContext } from '../run.ts'
import { ownKey, readCatalogue, system } from '../system.ts'
import { programName } from '../version.ts'

/** What the command line says. */
export interface VerifyFlags extends SshFlags, AttestationFiles, Ask {
  readonly devices: string
  readonly out?: string
  readonly summary?: string
  readonly measureHost?: boolean
  readonly leaseNetworks?: readonly string[]
  /** Of the whole command, seconds. */
  readonly limit?: number
  /** Whether the certificate names where the box is. */
  readonly address: boolean
  readonly verbose?: boolean
  readonly json?: boolean
}

/** Verifies one box, writes its certificate and shows the verdict. */
export async function verifyTarget(
  target: string | undefined,
  flags: VerifyFlags,
  { env }: CommandContext,
  signal: AbortSignal,
): Promise<number> {
  const options = askOf(flags, programName)
  if (target !== undefined) await checkAddress(target)
  const address = target ?? 'local'
  if (address.startsWith('lease:')) refuseLong(options)
  const out = flags.out ?? defaultName()
  ensureApart([out, flags.summary], [flags.identity, flags.node, ...vendorFiles(flags)])
  const terminal = openTerminal(process.stderr, env)
  const people = openTerminal(process.stdout, env)
  const signer = ownKey(env, 'validator')
  const catalogue = await readCatalogue()
  if (options.claim !== null) refuseFewer(requireClaim(options.claim, catalogue), flags)
  const how = { proverArguments: proverArguments(flags.devices, flags.measureHost), env, signer, ...telling(terminal) }
  const connect = (inner: AbortSignal) =>
    openBox({ address, flags, isPersonal: true, networks: flags.leaseNetworks, ...how }, inner)
  const onDetected = ({ devices, host }: Inventory) => {
    refuseUnattested(flags, devices)
    const named = flags.devices !== 'auto' || devices.some((device) => device.class === 'gpu')
    if (options.claim === null || named) return
    const place = address === 'local' ? 'this machine' : address
    const why = host.gpuAbsent === undefined ? 'it does not say why' : `it says ${boxWords(String(host.gpuAbsent))}`
    throw fault('NO_GPU_OPENED', { address: place, sold: soldText(options.claim, catalogue), why })
  }
  const attestation = attestationReader(attestationRules(flags))
  const placeOf = (box: RemoteBox) => (flags.address ? toldPlace(address, box) : undefined)
  const askedDevices = flags.devices === 'auto' ? null : flags.devices
  const deps = {
    signer,
    catalogue,
    connect,
    placeOf,
    askedDevices,
    attestation,
    measureHost: flags.measureHost,
    onDetected,
  }
  const limited = { seconds: flags.limit ?? limitOf(options), address }
  const report = await withinLimit(limited, (inner) => runShown(options, deps, terminal, inner), signal)
  // Whoever said stop gets no certificate, however near its end the run was.
  signal.throwIfAborted()
  writeAside(out, report.certificate)
  if (flags.summary !== undefined) writeAside(flags.summary, summaryOf(report.certificate, signer))
  const failed = failedDevices(report).length
  const asksVendors = vendorOption(flags) !== undefined
  const shown = { report, catalogue, file: out, failed, asksVendors, isVerbose: flags.verbose === true }
  const answer = answerOfReport(shown)
  if (flags.json) process.stdout.write(`${JSON.stringify(reportJson(report, answer.verdict, out))}\n`)
  else
    people.lines([
      ...reportLines(shown, people),
      '',
      ...labelled('certificate', `${out}  (${formatSeconds(report.seconds)} in all)`),
      ...labelled('summary', flags.summary ?? null),
      ...labelled('signed by', toHex(signer.publicKey)),
      ...closingLines(answer, people),
    ])
  return exitOfReport(report, failed, answer.verdict)
}

/** A box whose lease ends in mid-run would be rejected for vanishing. A third of it is for what stands around the parts. */
function refuseLong({ partSeconds, sustainedSeconds, precisions }: VerifyOptions): void {
  const seconds = sustainedSeconds + partSeconds * (precisions.length + 1)
  if (seconds > (2 / 3) * MAX_VERIFY_SECONDS)
    throw fault('LONGER_THAN_LEASE', { seconds: formatSeconds(seconds), most: formatSeconds(MAX_VERIFY_SECONDS) })
}

/** Of cards that nobody asks, the box would be told that they are not there. */
function refuseFewer({ count }: Claim, { devices, maxDevices = count }: VerifyFlags): void {
  const cards = (namedDevices(devices) ?? []).filter(({ backEnd }) => backEnd.class === 'gpu')
  const arePicked = cards.length > 0 && cards.every(({ ordinals }) => ordinals !== undefined)
  if (maxDevices < count) throw fault('FEWER_ASKED', { option: '--max-devices', asked: maxDevices, claimed: count })
  if (arePicked && cards.length < count)
    throw fault('FEWER_ASKED', { option: '--devices', asked: cards.length, claimed: count })
}

/** What evidence of hardware vendors is to be judged by says nothing of a box that has none to show. */
function refuseUnattested(flags: VerifyFlags, devices: Inventory['devices']): void {
  const option = vendorOption(flags)
  if (option !== undefined && !devices.some(({ details }) => details.attests === true))
    throw fault('NOTHING_ATTESTS', { option: `--${option}` })
}

/** As others can find it too: a lease by its provider, a box over SSH by host and port, without the account. */
function toldPlace(typed: string, { address }: RemoteBox): string | undefined {
  if (typed === 'local') return undefined
  return typed.startsWith('lease:') ? typed : address.replace(/^ssh:\/\/[^@]*@/, 'ssh://')
}

/** Far more than a run takes: what is still going on then hangs. */
const limitOf = ({ partSeconds, sustainedSeconds }: VerifyOptions): number =>
  1800 + 30 * partSeconds + 3 * sustainedSeconds

/** The whole command has an end, whatever a box does. */
async function withinLimit<T>(
  { seconds, address }: { readonly seconds: number; readonly address: string },
  work: (signal: AbortSignal) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const over = AbortSignal.timeout(Math.min(2 ** 31 - 1, 1000 * seconds))
  try {
    return await work(AbortSignal.any([signal, over]))
  } catch (error) {
    if (!over.aborted || signal.aborted) throw error
    throw fault('OVER_LIMIT', { address, limit: formatSeconds(seconds) }, error)
  }
}

interface RunDeps
  extends Pick<VerifyDeps, 'signer' | 'catalogue' | 'connect' | 'placeOf' | 'askedDevices' | 'attestation'> {
  readonly measureHost?: boolean | undefined
  /** Hears what the box says it has, and may refuse to go on. */
  readonly onDetected?: (inventory: Inventory) => void
}

/** What a person is told while a box is opened. */
const telling = (terminal: Terminal) => ({
  say: terminal.line,
  onUpload: (sent: number, of: number) =>
    terminal.live(
      sent < of
        ? `  uploading the prover ${bar(sent / of, terminal.barWidth)} ${formatBytes(sent)} of ${formatBytes(of)}`
        : '',
    ),
})

/** One run by this machine as validator, its steps on a terminal. */
export async function runShown(
  options: VerifyOptions,
  { measureHost = false, onDetected, ...deps }: RunDeps,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<BoxReport> {
  const checker = await openThreadedChecker()
  const walkChecker = openWalkChecker()
  try {
    const host = measureHost ? { walkChecker } : {}
    const show = showSteps(terminal)
    const onStep = (step: Step) => {
      show(step)
      if (step.step === 'detected') onDetected?.(step.inventory)
    }
    return await verifyBox(options, { ...system, ...deps, ...host, checker, onStep }, signal)
  } finally {
    terminal.live('')
    await Promise.all([checker.close(), walkChecker.close()])
  }
}

interface ShownReport {
  readonly report: BoxReport
  readonly catalogue: Catalogue
  /** The certificate. */
  readonly file: string | null
  readonly failed: number
  /** Whether evidence of hardware vendors was asked for. */
  readonly asksVendors?: boolean
  readonly isVerbose: boolean
}

function answerOfReport({ report, asksVendors = false, ...how }: ShownReport): Answer {
  const leftOut = leftOutOf(report.judgement, report.askedDevices, report.inventory)
  const answer = answerOf({ ...report, ...how, leftOut })
  return asksVendors ? attestedAnswer(answer, report.attested) : answer
}

/** A report for a person: the answer, what it rests on, and the box around the devices. */
export const reportLines = ({ report, ...how }: ShownReport, terminal: Terminal): string[] => [
  ...answerLines(answerOfReport({ report, ...how }), terminal),
  ...verdictLines(report, { ...how, ...terminal }),
  ...attestedLines(report, terminal.colours),
  ...boxLines(report, terminal.colours, how.isVerbose),
]

/** Of what was just signed, so it is there and it is ours. */
function summaryOf(certificate: string, signer: Signer): string {
  const read = readCertificate(certificate, () => true)
  const summary = isProblem(read) ? null : issueSummary(read, certificate, signer)
  if (summary === null) throw new Error('a certificate that its own program cannot read')
  return summary
}

const defaultName = (): string => `touchstone-${new Date().toISOString().slice(0, 19).replace(/[:T]/g, '-')}.json`

function reportJson(report: BoxReport, verdict: Verdict, file: string) {
  const { certificate: _, window: __, gaveUp: ___, proverKey, runId, ...rest } = report
  // Of a run that is rejected nothing is proven (attack 377).
  const models = report.judgement.reason ? [] : report.judgement.devices.map(({ identity }) => identity.model)
  const answer = { format: REPORT_FORMAT, kind: 'run', verdict }
  return { ...answer, ...rest, models, proverKey: toHex(proverKey), runId: toHex(runId), certificate: file }
}
