import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { equalBytes } from '../core/bytes/bytes.ts'
import { fromHex } from '../core/bytes/hex.ts'
import {
  type CheckedEvidence,
  checkCertificate,
  checkSummary,
  type ReaderRules,
  refused,
} from '../core/certificate/checkCertificate.ts'
import { counterSign, MAX_CERTIFICATE_BYTES, tooLarge } from '../core/certificate/envelope.ts'
import { type CertificateProblem, isProblem } from '../core/certificate/problems.ts'
import { issueSummary } from '../core/certificate/summary.ts'
import { openingRanges, sampleRanges } from '../core/proof/openingRanges.ts'
import type { Run } from '../core/proof/verifyPart.ts'
import { homeFolder } from '../drivers/system/homeFolder.ts'
import { loadCatalogue } from '../drivers/system/loadCatalogue.ts'
import { loadRevocations } from '../drivers/system/loadRevocations.ts'
import { loadSigner } from '../drivers/system/loadSigner.ts'
import { systemClock } from '../drivers/system/systemClock.ts'
import { systemRandomness } from '../drivers/system/systemRandomness.ts'
import { writeAside } from '../drivers/system/writeAside.ts'
import { openThreadedChecker } from '../drivers/verifier/openThreadedChecker.ts'
import type { OpeningChecker } from '../ports/openingChecker.ts'
import { cataloguePath } from './cataloguePath.ts'
import { EXIT, exitOfCheck } from './exitCodes.ts'
import { fault } from './faults.ts'
import { readDuration, readWhole } from './parseOptions.ts'
import { checkJson, type OpeningCount, showCheck } from './render/showCheck.ts'
import { bar } from './render/showSteps.ts'
import { openTerminal } from './render/terminal.ts'
import type { CommandContext } from './run.ts'

interface CheckFlags {
  readonly trust?: readonly Uint8Array[]
  readonly signer?: readonly Uint8Array[]
  readonly signers: number
  readonly prover?: Uint8Array
  readonly maxAge?: number
  readonly revoked?: string
  readonly catalogue?: string
  readonly sample?: number
  readonly full?: string
  readonly summary?: string
  readonly countersign?: string
  readonly json?: boolean
}

export function addCheckCommand(program: Command, context: CommandContext): void {
  program
    .command('check')
    .description('re-verify a certificate offline: signatures, challenge, every opening, every figure')
    .argument('<file>', 'a certificate written by "touchstone verify", or a summary of one')
    .option('--trust <key>', 'public key of a validator you trust, hex; may be repeated', addKey)
    .option('--signer <key>', 'trust this key, and refuse what it has not signed; may be repeated', addKey)
    .option('--signers <count>', 'how many trusted keys must have signed', readWhole(1, 8), 1)
    .option('--prover <key>', 'refuse the certificate of any other box', readKey)
    .option('--max-age <duration>', 'refuse what is older, for example 90m, 24h or 7d', readDuration)
    .option('--revoked <file>', 'signers that were revoked or replaced (default: revoked.json beside your keys)')
    .option('--catalogue <file>', 'judge by this catalogue of cards instead of the one that came with the program')
    .option('--full <file>', 'the certificate of the summary that is checked')
    .option('--summary <file>', 'write a summary of a certificate that you signed')
    .addOption(
      // A signature says that all of it held: that takes every opening.
      new Option(
        '--countersign <file>',
        'write the certificate with your signature added, if all of it holds',
      ).conflicts('sample'),
    )
    .option('--sample <count>', 'check only this many openings, drawn at random', readWhole(1, 1_000_000))
    .option('--json', 'print the outcome as JSON')
    .addHelpText('after', AFTER_HELP)
    .action((file: string, flags: CheckFlags) => context.run((signal) => check(file, flags, context, signal)))
}

const AFTER_HELP = `
Your own key is trusted anyway. Take any other from its owner, not from the
file. docs/verdict.md explains every line. Ends with 0 (valid, genuine and as
claimed), 1 (refused, or not as claimed), 2 (usage), 3 (fault) or 4 (not
established: expired, judged otherwise by your catalogue or by the rules of
today, or the claim is neither shown nor refuted).

A summary by itself is its signer's word and ends with 4; with --full everything
is checked. Countersign only what you watched yourself.

Examples:
  touchstone check touchstone-certificate.json --signer KEY --max-age 7d
  touchstone check summary.json --full touchstone-certificate.json --trust KEY`

function readKey(text: string): Uint8Array {
  const key = fromHex(text.toLowerCase(), 32)
  if (!key) throw new InvalidArgumentError('A key is 64 hex digits.')
  return key
}

const addKey = (text: string, before: readonly Uint8Array[] = []): Uint8Array[] => [...before, readKey(text)]

async function check(file: string, flags: CheckFlags, { env }: CommandContext, signal: AbortSignal): Promise<number> {
  const rules = await readerRules(flags, homeFolder(env))
  const openings = { all: 0, checked: 0 }
  const given = readBytes(file)
  const full = flags.full === undefined ? null : readBytes(flags.full)
  const checked = await withChecker(flags, openings, env, signal, async (checkRun): Promise<CheckedEvidence> => {
    if (isProblem(given)) return refused(given)
    if (full === null) return checkCertificate(given, rules, checkRun)
    return isProblem(full) ? refused(full) : checkSummary(given, full, rules, checkRun)
  })
  const signed = full ?? given
  const written = isProblem(signed) ? [] : writeSigned(signed, checked, flags, homeFolder(env))
  const shown = { file, checked, openings, catalogue: rules.catalogue, nowMs: rules.nowMs }
  if (flags.json) process.stdout.write(`${JSON.stringify(checkJson(shown))}\n`)
  else {
    const people = openTerminal(process.stdout, env)
    showCheck(shown, people)
    for (const line of written) people.line(line)
  }
  return exitOfCheck(checked)
}

/** What the owner of a key adds to a file that holds: a summary, or a signature. Tells in a line each what it wrote. */
function writeSigned(
  file: Uint8Array,
  checked: CheckedEvidence,
  { summary, countersign }: CheckFlags,
  home: string,
): string[] {
  if (summary === undefined && countersign === undefined) return []
  const signer = loadSigner(home, 'validator', systemRandomness)
  if (checked.kind !== 'certificate' || checked.problem) return []
  const told: string[] = []
  const text = Buffer.from(file).toString('latin1')
  if (summary !== undefined) {
    const isOurs = checked.read.signerKeys.some((key) => equalBytes(key, signer.publicKey))
    const written = isOurs ? issueSummary(checked.read, text, signer) : null
    if (written === null) throw fault(isOurs ? 'OTHER_VERSION' : 'NOT_YOUR_SIGNATURE')
    writeAside(summary, written)
    told.push(`  summary        ${summary}`)
  }
  if (countersign !== undefined && exitOfCheck(checked) === EXIT.genuine) {
    const written = checked.read.version > 1 ? counterSign(text, signer) : null
    if (written === null) throw fault('OTHER_VERSION')
    writeAside(countersign, written)
    told.push(`  countersigned  ${countersign}`)
  } else if (countersign !== undefined) told.push('  countersigned  nothing: only what ends with 0 is')
  return told
}

async function readerRules(flags: CheckFlags, home: string): Promise<ReaderRules> {
  const own = loadSigner(home, 'validator', systemRandomness).publicKey
  const required = flags.signer ?? []
  return {
    nowMs: systemClock.wallTime().getTime(),
    catalogue: await loadCatalogue(flags.catalogue ?? cataloguePath()),
    trusted: [own, ...(flags.trust ?? []), ...required],
    revocations: loadRevocations(flags.revoked, home),
    threshold: flags.signers,
    required,
    prover: flags.prover ?? null,
    maxAgeSeconds: flags.maxAge ?? null,
  }
}

/** Looks at the size first: what is too large is never read. */
function readBytes(file: string): Uint8Array | CertificateProblem {
  let descriptor: number | null = null
  try {
    descriptor = openSync(file, 'r')
    const stats = fstatSync(descriptor)
    if (!stats.isFile()) throw new Error('EISDIR')
    return stats.size > MAX_CERTIFICATE_BYTES ? tooLarge(stats.size) : readFileSync(descriptor)
  } catch (cause) {
    throw fault('NOT_READABLE', { file }, cause)
  } finally {
    if (descriptor !== null) closeSync(descriptor)
  }
}

type CheckRun = Parameters<typeof checkCertificate>[2]

async function withChecker<T>(
  flags: CheckFlags,
  openings: OpeningCount,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
  work: (checkRun: CheckRun) => Promise<T>,
): Promise<T> {
  const terminal = openTerminal(process.stderr, env)
  // What is refused before that needs no threads.
  let checker: OpeningChecker | null = null
  const checkRun = async (run: Run) => {
    checker ??= await openThreadedChecker()
    const all = openingRanges(run)
    const ranges = flags.sample === undefined ? all : sampleRanges(all, flags.sample, drawBelow)
    const count = (list: typeof all) => list.reduce((sum, { from, to }) => sum + to - from, 0)
    Object.assign(openings, { all: count(all), checked: count(ranges) })
    let done = 0
    const onDone = (more: number) => {
      done += more
      terminal.live(`  openings ${bar(done / openings.checked, terminal.barWidth)} ${done}/${openings.checked}`)
    }
    const found = await checker.check(run, ranges, onDone, signal)
    terminal.live('')
    return found
  }
  try {
    return await work(checkRun)
  } finally {
    await (checker as OpeningChecker | null)?.close()
  }
}

/** Uniform enough for a sample: 48 random bits scaled down. */
const drawBelow = (below: number): number => {
  const value = systemRandomness.bytes(6).reduce((sum, byte) => 256 * sum + byte, 0)
  return Math.floor((value / 2 ** 48) * below)
}
