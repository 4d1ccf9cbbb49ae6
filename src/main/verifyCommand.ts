import { type Command, Option } from 'commander'
import { requireClaim } from '../apps/shared/requireClaim.ts'
import { type Ask, askOf } from '../apps/validator/askOf.ts'
import { type BoxReport, verifyBox } from '../apps/validator/verifyBox.ts'
import type { Signer } from '../core/bytes/ed25519.ts'
import { toHex } from '../core/bytes/hex.ts'
import { isProblem } from '../core/certificate/problems.ts'
import { readCertificate } from '../core/certificate/readEvidence.ts'
import { issueSummary } from '../core/certificate/summary.ts'
import { PRECISION_NAMES } from '../core/params/precision.ts'
import { PRESETS } from '../core/params/presets.ts'
import { openWalkChecker } from '../drivers/host/openWalkChecker.ts'
import { homeFolder } from '../drivers/system/homeFolder.ts'
import { loadCatalogue } from '../drivers/system/loadCatalogue.ts'
import { loadSigner } from '../drivers/system/loadSigner.ts'
import { systemClock } from '../drivers/system/systemClock.ts'
import { systemRandomness } from '../drivers/system/systemRandomness.ts'
import { ensureWritable, writeAside } from '../drivers/system/writeAside.ts'
import { openThreadedChecker } from '../drivers/verifier/openThreadedChecker.ts'
import { addSshOptions, type SshFlags } from './boxes/openSshBox.ts'
import { openBox, proverArguments } from './boxes/openThisMachine.ts'
import { cataloguePath } from './cataloguePath.ts'
import { exitOfReport } from './exitCodes.ts'
import {
  DEVICES_HELP,
  readDevices,
  readNetworks,
  readNumber,
  readPrecisions,
  readPreset,
  readValidity,
  readWhole,
} from './parseOptions.ts'
import { showBox } from './render/showBox.ts'
import { showSteps } from './render/showSteps.ts'
import { failedDevices, shownReport, showVerdict } from './render/showVerdict.ts'
import { openTerminal } from './render/terminal.ts'
import type { CommandContext } from './run.ts'
import { programName } from './version.ts'

interface VerifyFlags extends SshFlags, Omit<Ask, 'program'> {
  readonly devices: string
  readonly out?: string
  readonly summary?: string
  readonly measureHost?: boolean
  readonly leaseNetworks?: readonly string[]
  readonly json?: boolean
}

export function addVerifyCommand(program: Command, context: CommandContext): void {
  const verifying = program
    .command('verify')
    .description('prove what the GPUs of this machine, or of a box over SSH, are and do')
    .argument('[target]', 'ssh://user@host:port or lease://host:port#key; this machine when left out')
    .addOption(
      new Option('--preset <name>', 'tiny or devnet (quick, insecure), or mainnet')
        .argParser(readPreset)
        .default(PRESETS.mainnet, 'mainnet'),
    )
    .option('--precisions <list>', `some of ${PRECISION_NAMES.join(',')}`, readPrecisions)
    .option('--openings <count>', 'openings per device and part (mainnet: 128)', readWhole(1, 4096))
    .option('--part-seconds <seconds>', 'length of each timed part (mainnet: 3)', readNumber(0.05, 3600))
    .option('--duration <seconds>', 'length of the sustained run (mainnet: 20)', readNumber(0, 86_400))
    .option('--size <m>', 'largest m = n to ask for', readWhole(64, 32768))
    .option('--devices <list>', DEVICES_HELP, readDevices, 'auto')
    .option('--max-devices <count>', 'ask at most this many devices', readWhole(1, 32), 32)
    .option('--claim <text>', 'what was sold, for example "8x H100 SXM"; ends with 0 only if it was shown')
    .option('--no-memory', 'leave the memory part out')
    .option('--no-bind', 'leave the bind part out')
    .option('--measure-host', 'measure processor, memory and disk of the box too')
    .option('--lease-networks <list>', 'where a lease may lead besides the provider itself: 10.0.0.0/8,…', readNetworks)
    .option('--out <file>', 'where the certificate goes')
    .option('--valid-for <duration>', 'how long the certificate is valid, for example 24h (default: 30d)', readValidity)
    .option('--summary <file>', 'write a summary of at most 4 KB too, for listings')
    .option('--json', 'print the report as JSON')
  addSshOptions(verifying).addHelpText('after', AFTER_HELP)
  verifying.action((target: string | undefined, flags: VerifyFlags) =>
    context.run((signal) => verify(target ?? 'local', flags, context, signal)),
  )
}

const AFTER_HELP = `
Options that ask for less than mainnet, or leave a part of it out, make the run
"custom": insecure, no card is identified, and a claim stays unproven. Less than
tiny or devnet is refused. The password of an account is read from
TOUCHSTONE_SSH_PASSWORD, the passphrase of a key from TOUCHSTONE_SSH_PASSPHRASE.

Ends with 0 (genuine, and as claimed), 1 (rejected, or not as claimed), 2
(usage), 3 (fault; also where a card failed and the verdict is of the others) or
4 (not established: the claim is neither shown nor refuted); 130 after Ctrl-C.

Examples:
  touchstone verify
  touchstone verify ssh://root@203.0.113.7:22 --claim "8x H100 SXM"`

async function verify(
  target: string,
  flags: VerifyFlags,
  { env }: CommandContext,
  signal: AbortSignal,
): Promise<number> {
  const options = askOf({ ...flags, program: programName })
  const out = flags.out ?? defaultName()
  ensureWritable(out)
  if (flags.summary !== undefined) ensureWritable(flags.summary)
  const terminal = openTerminal(process.stderr, env)
  const people = openTerminal(process.stdout, env)
  const signer = loadSigner(homeFolder(env), 'validator', systemRandomness)
  const catalogue = await loadCatalogue(cataloguePath())
  if (options.claim !== null) requireClaim({ text: options.claim, catalogue })
  const checker = await openThreadedChecker()
  const walkChecker = openWalkChecker()
  try {
    const host = flags.measureHost ? { walkChecker } : {}
    const deps = { clock: systemClock, randomness: systemRandomness, signer, checker, catalogue, ...host }
    const where = { address: target, flags, ...networksOf(flags) }
    const how = { proverArguments: proverArguments(flags.devices, flags.measureHost), env, signer, say: terminal.line }
    const connect = () => openBox({ ...where, ...how }, signal)
    const report = await verifyBox(options, { ...deps, connect, onStep: showSteps(terminal) }, signal)
    terminal.live('')
    writeAside(out, report.certificate)
    if (flags.summary !== undefined) writeAside(flags.summary, summaryOf(report.certificate, signer))
    const shown = shownReport(report, catalogue)
    if (flags.json) process.stdout.write(`${JSON.stringify(reportJson(report, out))}\n`)
    else {
      showVerdict(shown, people)
      showBox(report, people)
      people.line('')
      people.line(`  certificate    ${out}  (${report.seconds.toFixed(1)} s in all)`)
      if (flags.summary !== undefined) people.line(`  summary        ${flags.summary}`)
      people.line(`  signed by ${toHex(signer.publicKey)}`)
      people.line(`  next           npx touchstone check ${out}`)
    }
    return exitOfReport(report, failedDevices(shown).length)
  } finally {
    await Promise.all([checker.close(), walkChecker.close()])
  }
}

const networksOf = ({ leaseNetworks: networks }: VerifyFlags) => (networks === undefined ? {} : { networks })

/** Of what was just signed, so it is there and it is ours. */
function summaryOf(certificate: string, signer: Signer): string {
  const read = readCertificate(certificate, () => true)
  const summary = isProblem(read) ? null : issueSummary(read, certificate, signer)
  if (summary === null) throw new Error('a certificate that its own program cannot read')
  return summary
}

const defaultName = (): string => `touchstone-${new Date().toISOString().slice(0, 19).replace(/[:T]/g, '-')}.json`

function reportJson(report: BoxReport, file: string) {
  const { certificate: _, window: __, gaveUp: ___, proverKey, runId, ...rest } = report
  const models = report.judgement.devices.map(({ identity }) => identity.model)
  return { ...rest, models, proverKey: toHex(proverKey), runId: toHex(runId), certificate: file }
}
