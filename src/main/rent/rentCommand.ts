import { type Command, Option } from 'commander'
import { MAX_RENT_SECONDS } from '../../core/lease/leaseBook.ts'
import { addKey, readNetworks, readNumber, refuseUnused } from '../parseOptions.ts'
import type { CommandContext } from '../run.ts'
import { endRent, type RentFlags, rent } from './rent.ts'

/** `touchstone rent`: a box for some hours, and back. */
export function addRentCommand(program: Command, context: CommandContext): void {
  program
    .command('rent')
    .description('rent a box from its provider: see what was proven, get the ssh line, give it back')
    .argument('<address>', 'lease://host:port#key, as the provider shows it')
    .option('--hours <count>', 'for how long, at most 744', readNumber(0.01, MAX_RENT_SECONDS / 3600))
    .option('--key <file>', 'Ed25519 private key without a passphrase to log in with (default: a fresh one)')
    .option('--proof <file>', 'certificate of the box, or summary with --full: rents only where its check ends with 0')
    .option('--claim <text>', 'what you rent, for example "8x H100 SXM": the proof must show that')
    .option('--full <file>', 'the certificate that the summary is of')
    .option('--unproven', 'rent even if the check leaves it open (4): expired, no claim proven, a summary alone')
    .addOption(
      new Option('--trust <key>', 'public key of a validator you trust, hex; may be repeated')
        .argParser(addKey)
        .default([], 'none besides your own'),
    )
    .option(
      '--lease-networks <list>',
      'where the lease may lead besides the provider itself: 10.0.0.0/8,…',
      readNetworks,
    )
    .option('--end', 'give the box back')
    .option('--verbose', 'show everything about each card of the proof instead of one row')
    .option('--json', 'print JSON, one object a line')
    .addHelpText('after', AFTER_HELP)
    .action((address: string, flags: RentFlags, command: Command) => {
      if (!flags.end && flags.hours === undefined)
        command.error("error: say for how long with '--hours <count>', or '--end'")
      if (flags.end) refuseUnused(command, RENTING_OPTIONS, 'with --end')
      if (flags.proof === undefined)
        refuseUnused(command, ['full', 'claim', 'unproven', 'trust', 'verbose'], 'without --proof')
      return context.run((signal) => (flags.end ? endRent : rent)(address, flags, context, signal))
    })
}

const RENTING_OPTIONS = ['hours', 'key', 'proof', 'full', 'claim', 'unproven', 'trust', 'leaseNetworks', 'verbose']

const AFTER_HELP = `
The provider must have let your key in ("touchstone provider allow KEY"); where
it has not, its refusal names the key. The address in a certificate is the word
of its signer: a file that names another provider rents nothing, but that it is
of this box you know only if you verified the box yourself, with "touchstone
verify" and the same address, if you are allowed to verify too.

Examples:
  touchstone rent "lease://gpu-1.example.org:7878#KEY" --hours 2
  touchstone rent "lease://gpu-1.example.org:7878#KEY" --end`
