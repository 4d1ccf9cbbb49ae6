import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs'
import { type Command, InvalidArgumentError } from 'commander'
import { equalBytes } from '../core/bytes/bytes.ts'
import { fromHex, toHex } from '../core/bytes/hex.ts'
import { MAX_CERTIFICATE_BYTES } from '../core/certificate/envelope.ts'
import { judgementProblem } from '../core/certificate/judgementProblem.ts'
import type { Judgement } from '../core/certificate/judgeRun.ts'
import { type CertificateProblem, PROBLEMS } from '../core/certificate/problems.ts'
import { type ReadCertificate, readCertificate } from '../core/certificate/readCertificate.ts'
import type { Catalogue } from '../core/identify/catalogue.ts'
import { openingRanges, sampleRanges } from '../core/proof/openingRanges.ts'
import { explainReason } from '../core/proof/reasons.ts'
import { homeFolder } from '../drivers/system/homeFolder.ts'
import { loadSigner } from '../drivers/system/keyFile.ts'
import { loadCatalogue } from '../drivers/system/loadCatalogue.ts'
import { systemRandomness } from '../drivers/system/systemRandomness.ts'
import { openThreadedChecker } from '../drivers/verifier/openThreadedChecker.ts'
import { TouchstoneError } from '../ports/errors.ts'
import { cataloguePath } from './cataloguePath.ts'
import { EXIT, exitOf } from './exitCodes.ts'
import { readWhole } from './parseOptions.ts'
import { bar } from './render/showSteps.ts'
import { showVerdict } from './render/showVerdict.ts'
import { openTerminal } from './render/terminal.ts'
import type { CommandContext } from './run.ts'

interface CheckFlags {
  readonly trust?: readonly Uint8Array[]
  readonly sample?: number
  readonly json?: boolean
}

export function addCheckCommand(program: Command, context: CommandContext): void {
  program
    .command('check')
    .description('re-verify a certificate offline: signatures, challenge, every opening, every figure')
    .argument('<file>', 'a certificate written by "touchstone verify"')
    .option('--trust <key>', 'public key of a validator you trust, hex; may be repeated', addKey)
    .option('--sample <count>', 'check only so many openings, drawn at random', readWhole(1, 1_000_000))
    .option('--json', 'print the outcome as JSON')
    .addHelpText('after', AFTER_HELP)
    .action((file: string, flags: CheckFlags) => context.run((signal) => check(file, flags, context, signal)))
}

const AFTER_HELP = `
Your own key is trusted anyway. Take any other from its owner, not from the
file. docs/verdict.md explains every line. Ends with 0 (valid, genuine and as
claimed), 1 (refused, or not as claimed), 2 (usage) or 3 (fault).

Example:
  touchstone check touchstone-certificate.json --trust KEY`

function addKey(text: string, before: readonly Uint8Array[] = []): Uint8Array[] {
  const key = fromHex(text.toLowerCase(), 32)
  if (!key) throw new InvalidArgumentError('A key is 64 hex digits.')
  return [...before, key]
}

interface Outcome {
  readonly problem: CertificateProblem | null
  readonly read: ReadCertificate | null
  readonly openings: number
  readonly openingsChecked: number
  readonly identityRecomputed: boolean
}

async function check(file: string, flags: CheckFlags, { env }: CommandContext, signal: AbortSignal): Promise<number> {
  const own = loadSigner(homeFolder(env), 'validator', systemRandomness).publicKey
  const text = readText(file)
  const trusts = (key: Uint8Array) => [own, ...(flags.trust ?? [])].some((trusted) => equalBytes(trusted, key))
  const read = typeof text === 'string' ? readCertificate(text, trusts) : text
  const catalogue = await loadCatalogue(cataloguePath())
  const outcome = 'code' in read ? refused(read) : await checkRun(read, catalogue, flags, env, signal)
  if (flags.json) process.stdout.write(`${JSON.stringify(outcomeJson(file, outcome))}\n`)
  else showOutcome(file, outcome, catalogue, env)
  return outcome.problem === null ? exitOf(judgementOf(outcome.read!)) : EXIT.rejected
}

const judgementOf = ({ statement }: ReadCertificate): Judgement => statement.predicate.judgement as unknown as Judgement

const refused = (problem: CertificateProblem): Outcome => ({
  problem,
  read: null,
  openings: 0,
  openingsChecked: 0,
  identityRecomputed: false,
})

/** Looks at the size first: what is too large is never read. */
function readText(file: string): string | CertificateProblem {
  let descriptor: number | null = null
  try {
    descriptor = openSync(file, 'r')
    const stats = fstatSync(descriptor)
    if (!stats.isFile()) throw new Error('EISDIR')
    if (stats.size > MAX_CERTIFICATE_BYTES)
      return { code: 'TOO_LARGE', got: stats.size, expected: MAX_CERTIFICATE_BYTES }
    return readFileSync(descriptor, 'latin1')
  } catch (cause) {
    throw new TouchstoneError(
      { code: 'NOT_READABLE', file },
      {
        message: `cannot read ${file}`,
        blame: 'user',
        retry: false,
        nextStep: 'Name a certificate file that exists and that you may read.',
        cause,
      },
    )
  } finally {
    if (descriptor !== null) closeSync(descriptor)
  }
}

async function checkRun(
  read: ReadCertificate,
  catalogue: Catalogue,
  flags: CheckFlags,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<Outcome> {
  const terminal = openTerminal(process.stderr, env)
  const all = openingRanges(read.run)
  const ranges = flags.sample === undefined ? all : sampleRanges(all, flags.sample, drawBelow)
  const count = (list: typeof all) => list.reduce((sum, { from, to }) => sum + to - from, 0)
  const openings = count(all)
  const openingsChecked = count(ranges)
  const checker = await openThreadedChecker()
  try {
    let done = 0
    const onDone = (more: number) => {
      done += more
      terminal.live(`  openings ${bar(done / openingsChecked, terminal.barWidth)} ${done}/${openingsChecked}`)
    }
    const found = await checker.check(read.run, ranges, onDone, signal)
    terminal.live('')
    const { problem, recomputed } = judgementProblem(read, catalogue, found)
    return { problem, read, openings, openingsChecked, identityRecomputed: recomputed }
  } finally {
    await checker.close()
  }
}

/** Uniform enough for a sample: 48 random bits scaled down. */
const drawBelow = (below: number): number => {
  const [a, b, c, d, e, f] = systemRandomness.bytes(6) as unknown as number[]
  const value = ((((a! * 256 + b!) * 256 + c!) * 256 + d!) * 256 + e!) * 256 + f!
  return Math.floor((value / 2 ** 48) * below)
}

function showOutcome(
  file: string,
  { problem, read, openings, openingsChecked, identityRecomputed }: Outcome,
  catalogue: Catalogue,
  env: NodeJS.ProcessEnv,
): void {
  const terminal = openTerminal(process.stdout, env)
  const { line, colours } = terminal
  if (problem) {
    const facts = [
      problem.where,
      problem.reason ? explainReason(problem.reason) : undefined,
      problem.got === undefined ? undefined : `got ${problem.got}`,
    ]
    const detail = facts.filter((fact) => fact !== undefined && fact !== '').join('; ')
    line(
      `${colours.bold(colours.red('REFUSED'))} ${file}: ${PROBLEMS[problem.code].meaning}${detail ? ` (${detail})` : ''} [${problem.reason?.code ?? problem.code}]`,
    )
    line(`${colours.dim('next:')} ${PROBLEMS[problem.code].nextStep}`)
    return
  }
  const { statement, preset, signerKey } = read!
  const { inventory, telemetry, faults = [] } = statement.predicate.claims
  line(`${colours.bold(colours.green('VALID'))} ${file}, issued ${statement.predicate.issuedAt}`)
  line(`  signed by ${toHex(signerKey)}`)
  line(`  ${openingsChecked} of ${openings} openings recomputed, all figures and signatures hold`)
  if (!identityRecomputed) line(colours.yellow("  judged with another catalogue: the identity is the signer's word"))
  showVerdict(
    {
      judgement: judgementOf(read!),
      preset: preset.name,
      devices: inventory.devices,
      host: inventory.host,
      catalogue,
      telemetry,
      faults,
    },
    terminal,
  )
  line(colours.dim('  The signer vouches for the times, for the freshness of seeds and nonces, and'))
  line(colours.dim('  for the claims.'))
}

function outcomeJson(file: string, { problem, read, ...counts }: Outcome) {
  const base = { file, valid: problem === null, ...counts }
  if (problem) return { ...base, problem: { ...problem, ...PROBLEMS[problem.code] } }
  return {
    ...base,
    signer: toHex(read!.signerKey),
    preset: read!.preset.name,
    judgement: read!.statement.predicate.judgement,
  }
}
