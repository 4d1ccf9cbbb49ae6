import { join } from 'node:path'
import { type Command, Option } from 'commander'
import type { LeasePurpose } from '../../core/lease/leaseBook.ts'
import { PRESETS, type Preset } from '../../core/params/presets.ts'
import type { Confinement } from '../../drivers/lease/chooseAccess.ts'
import { ownHome } from '../../drivers/system/xdgFolders.ts'
import {
  DEVICES_HELP,
  readDevices,
  reader,
  readList,
  readOneOf,
  readPreset,
  readWhole,
  refuseUnused,
} from '../parseOptions.ts'
import type { CommandContext } from '../run.ts'
import { allowKeys, denyKeys, type KeyFlags } from './ownRules.ts'
import { type ProviderFlags, provide } from './provide.ts'
import { revokeLease, showProvider, stopProvider } from './runningProvider.ts'

export function addProviderCommand(program: Command, context: CommandContext): void {
  const provider = program
    .command('provider')
    .description('offer this box: give validators and buyers leases on it, and end them on time')
    .option(
      '--allow <keys>',
      'who may have this box to verify it: keys separated by commas, "anyone" among them: strangers give way to the keys named; a key is what "verify" shows as "signed by"',
      readKeysOrAnyone,
    )
    .addOption(
      new Option('--allow-rent <keys>', 'who may rent it, for up to 31 days: keys separated by commas')
        .argParser(readKeys)
        .default([], 'nobody'),
    )
    .addOption(
      new Option('--listen <host:port>', 'where to wait for them')
        .argParser(readListen)
        .default({ host: '0.0.0.0', port: 7878 }, '0.0.0.0:7878'),
    )
    .option('--dial-out <url#key>', 'for a box behind NAT: the validator to dial instead', readDialOut)
    .option('--ssh-host <name>', 'how others reach the SSH server of this box')
    .option('--ssh-port <port>', 'its port', readWhole(1, 65_535), 22)
    .option('--host-key-file <file>', 'its public host key', '/etc/ssh/ssh_host_ed25519_key.pub')
    .option('--authorized-keys <file>', 'of the account we run in', join(ownHome(), '.ssh', 'authorized_keys'))
    .option('--confinement <kind>', 'auto, container, account or shared', readConfinement, 'auto')
    .option('--image <name>', 'image for leases in containers')
    .option('--gpu-flags <flags>', 'with --image: flags that hand the cards to a container, separated by blanks')
    .addOption(
      new Option('--check <preset>', 'how to check this box before joining: tiny, devnet, mainnet or none')
        .argParser(readCheck)
        .default(PRESETS.mainnet, 'mainnet'),
    )
    .option('--devices <list>', `what the check runs on: ${DEVICES_HELP}`, readDevices, 'auto')
    .option('--requirements <file>', 'what the network asks of a box at the least, as JSON')
    .option('--claim <text>', 'what this box is sold as, for example "8x H100 SXM": the check must show it')
    .option('--no-ssh-check', 'skip the trial login to this box before joining')
    .option('--verbose', 'show everything about each card that is checked instead of one row')
    .option('--json', 'print events as JSON, one per line')
    .addHelpText('after', AFTER_HELP)
    .action((flags: ProviderFlags, command: Command) => {
      // Not a required option: the commands below do without.
      if (flags.allow === undefined) command.error("error: required option '--allow <keys>' not specified")
      if (flags.check === 'none')
        refuseUnused(command, ['devices', 'requirements', 'claim', 'verbose'], 'with --check none')
      if (flags.dialOut !== undefined) refuseUnused(command, ['listen'], 'with --dial-out')
      if (['own account', 'shared account'].includes(flags.confinement))
        refuseUnused(command, ['image', 'gpuFlags'], 'for a lease that is in no container')
      if (flags.image === undefined) refuseUnused(command, ['gpuFlags'], 'without --image')
      if (flags.confinement === 'own account')
        refuseUnused(command, ['authorizedKeys'], 'for a lease with an account of its own')
      return context.run((signal) => provide(flags, context, signal))
    })
  addBeside(provider, context)
}

/** What its owner does while it runs. */
function addBeside(provider: Command, context: CommandContext): void {
  const beside = (name: string, description: string, work: typeof showProvider): Command =>
    provider
      .command(name)
      .description(description)
      .option('--json', 'print JSON')
      .action((flags: Parameters<typeof work>[0]) => context.run((signal) => work(flags, context, signal)))
  const ofKeys = (name: string, description: string, work: typeof allowKeys): Command =>
    provider
      .command(`${name} [keys...]`)
      .description(description)
      .option('--file <file>', 'keys from a file, one a line; # begins a comment')
      .option('--json', 'print JSON')
      .action((keys: readonly string[], flags: KeyFlags) => context.run(() => work(keys, flags, context)))
  beside('status', 'whether the provider of this account answers, who may have the box and who has it', showProvider)
  ofKeys('allow', 'let keys in, even while it runs; a current lease is not affected', allowKeys).option(
    '--to <purpose>',
    'verify or rent (default: both)',
    readPurpose,
  )
  ofKeys('deny', 'keep keys out from now on; a lease that one of them has goes on until "revoke"', denyKeys)
  beside('revoke', 'end the lease that is open, whoever holds it', revokeLease).option(
    '--deny',
    'and keep its holder out',
  )
  beside('stop', 'end the provider of this account, and the lease that is open with it', stopProvider)
}

const readPurpose = readOneOf<readonly LeasePurpose[]>(
  { verify: ['verify'], rent: ['rent'] },
  'Use verify or rent, or leave it out for both.',
)

const AFTER_HELP = `
Confinement of a lease: a container (docker or podman, with --image), an account
made for it (needs root and useradd), or the account this runs in, shared and
without any isolation from it; auto takes the first of these that this box has.
docs/spec/leases.md says how access ends. Before it listens it logs in to itself
and has its cards checked. Runs until Ctrl-C or "touchstone provider stop",
which end any open lease.
docs/guides/seller.md is a guide.

Example:
  touchstone provider --allow KEY --ssh-host gpu-1.example.org
then, where the key lives:
  touchstone verify "lease://gpu-1.example.org:7878#KEY_OF_THIS_PROVIDER"`

const readCheck = (text: string): Preset | 'none' => (text === 'none' ? text : readPreset(text))

const readKeys = readList('Use keys of 64 hex digits separated by commas.', (key) => /^[0-9a-f]{64}$/.test(key))

const readKeysOrAnyone = readList('Use keys of 64 hex digits separated by commas, or "anyone".', (key) =>
  /^([0-9a-f]{64}|anyone)$/.test(key),
)

const readListen = reader('Use host:port, for example 0.0.0.0:7878.', (text) => {
  const [, host, port] = /^\[?([A-Za-z0-9.:-]+?)\]?:([0-9]{1,5})$/.exec(text) ?? []
  return host === undefined || Number(port) > 65_535 ? null : { host, port: Number(port) }
})

const readDialOut = reader('Use wss://host:port#key, the key being that of the validator.', (text) => {
  const [, url, key] = /^(wss?:\/\/[^#\s]+)#([0-9a-f]{64})$/.exec(text) ?? []
  return url === undefined || key === undefined ? null : { url, key }
})

const readConfinement = readOneOf<Confinement | 'auto'>(
  { auto: 'auto', container: 'container', account: 'own account', shared: 'shared account' },
  'Use auto, container, account or shared.',
)
