import { type Command, Option } from 'commander'
import { PRECISION_NAMES } from '../../core/params/precision.ts'
import { PRESETS } from '../../core/params/presets.ts'
import { addVendorOptions } from '../attestationRules.ts'
import { addSshOptions, OF_A_LEASE, SSH_OPTIONS } from '../boxes/sshFlags.ts'
import {
  DEVICES_HELP,
  readDevices,
  readDuration,
  readNetworks,
  readNumber,
  readPrecisions,
  readPreset,
  readValidity,
  readWhole,
  refuseUnused,
} from '../parseOptions.ts'
import type { CommandContext } from '../run.ts'
import { type VerifyFlags, verifyTarget } from './verifyTarget.ts'

export function addVerifyCommand(program: Command, context: CommandContext): void {
  const verifying = program
    .command('verify')
    .description('prove what the GPUs of this machine, or of a box over SSH, are and do')
    .argument(
      '[target]',
      'root@host, host:2222, an alias of ~/.ssh/config, an ssh command as pasted, or lease://host:port#key; this machine when left out',
    )
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
    .option('--claim <text>', 'what was sold, for example "8x H100 SXM"; ends with 0 only if this is shown')
    .option('--no-memory', 'leave the memory part out')
    .option('--no-bind', 'leave the bind part out')
    .option('--measure-host', 'measure processor, memory and disk of the box too')
    .option('--lease-networks <list>', 'where a lease may lead besides the provider itself: 10.0.0.0/8,…', readNetworks)
    .option('--out <file>', 'where the certificate goes')
    .option('--no-address', 'do not name in the certificate where the box is')
    .option('--valid-for <duration>', 'how long the certificate is valid, for example 24h (default: 30d)', readValidity)
    .option('--summary <file>', 'write a summary of at most 4 KB too, for listings')
    .option('--limit <duration>', 'end after so long, whatever the box does (default: about 30m)', readDuration)
    .option('--verbose', 'show everything about each card instead of one row')
    .option('--json', 'print the report as JSON')
  addVendorOptions(addSshOptions(verifying)).addHelpText('after', AFTER_HELP)
  verifying.action((target: string | undefined, flags: VerifyFlags) => {
    if (target === undefined) refuseUnused(verifying, [...SSH_OPTIONS, 'address'], 'without a box to go to')
    if (target?.startsWith('lease:')) refuseUnused(verifying, SSH_OPTIONS, OF_A_LEASE)
    else refuseUnused(verifying, ['leaseNetworks'], 'for a target that is no lease')
    return context.run((signal) => verifyTarget(target, flags, context, signal))
  })
}

const AFTER_HELP = `
Options that ask for less than mainnet, or leave a part of it out, make the run
"custom": insecure, no card is identified, and a claim stays unproven. Less than
tiny or devnet is refused.

Your own SSH settings apply: aliases, keys and jumps of ~/.ssh/config, your
agent, known hosts. On a terminal you are asked for a password or passphrase;
otherwise they are TOUCHSTONE_SSH_PASSWORD and TOUCHSTONE_SSH_PASSPHRASE.

Ends with 0 (genuine, and as claimed), 1 (rejected, or not as claimed), 2
(usage), 3 (fault; also where a card failed and the verdict is of the others) or
4 (not established: the claim is neither shown nor refuted); 130 after Ctrl-C.
With --policy, --rim, --ocsp, --crl or --collateral it ends with 0 only if all
cards handed in evidence of their vendor, and it holds.

Examples:
  touchstone verify
  touchstone verify root@203.0.113.7:2222 --claim "8x H100 SXM"
  touchstone verify ssh -p 2222 root@203.0.113.7 --claim "8x H100 SXM"`
