import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync } from 'node:fs'
import { homedir, userInfo } from 'node:os'
import { join } from 'node:path'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { type LeaseNews, LeaseService } from '../../apps/provider/leaseService.ts'
import { keepTime, serveLine } from '../../apps/provider/serveLeases.ts'
import { requireClaim } from '../../apps/shared/requireClaim.ts'
import { isPermitted } from '../../core/lease/leasePermissions.ts'
import { PRESETS, type Preset } from '../../core/params/presets.ts'
import { type Confinement, chooseAccess } from '../../drivers/lease/chooseAccess.ts'
import { type DialOutDeps, dialOut } from '../../drivers/lease/dialOut.ts'
import { fileJournal } from '../../drivers/lease/fileJournal.ts'
import { tunnelledAccess } from '../../drivers/lease/tunnelledAccess.ts'
import { homeFolder } from '../../drivers/system/homeFolder.ts'
import { loadSigner } from '../../drivers/system/keyFile.ts'
import { lockFolder } from '../../drivers/system/lockFolder.ts'
import { sealToKey } from '../../drivers/system/sealToKey.ts'
import { systemClock } from '../../drivers/system/systemClock.ts'
import { systemRandomness } from '../../drivers/system/systemRandomness.ts'
import { listenWs, wsChannel } from '../../drivers/system/wsChannel.ts'
import { cataloguePath } from '../cataloguePath.ts'
import { EXIT } from '../exitCodes.ts'
import { fault } from '../faults.ts'
import { DEVICES_HELP, readDevices, readPreset, readWhole } from '../parseOptions.ts'
import { openTerminal } from '../render/terminal.ts'
import type { CommandContext } from '../run.ts'
import type { SelfCheck } from './selfCheck.ts'

interface ProviderFlags {
  readonly listen: { readonly host: string; readonly port: number }
  readonly dialOut?: { readonly url: string; readonly key: string }
  readonly allow: readonly string[]
  readonly allowRent: readonly string[]
  readonly sshHost?: string
  readonly sshPort: number
  readonly hostKeyFile: string
  readonly authorizedKeys: string
  readonly confinement: Confinement | 'auto'
  readonly image?: string
  readonly gpuFlags?: string
  readonly check: Preset | 'none'
  readonly devices: string
  readonly requirements?: string
  readonly claim?: string
  readonly json?: boolean
}

export function addProviderCommand(program: Command, context: CommandContext): void {
  program
    .command('provider')
    .description('offer this box: give validators and buyers leases on it, and end them on time')
    .requiredOption(
      '--allow <keys>',
      'who may have this box to verify it: keys separated by commas, or "anyone"; a key is what "verify" shows as "signed by"',
      readKeysOrAnyone,
    )
    .option('--allow-rent <keys>', 'who may rent it, for up to 31 days: keys separated by commas', readKeys, [])
    .addOption(
      new Option('--listen <host:port>', 'where to wait for them')
        .argParser(readListen)
        .default({ host: '0.0.0.0', port: 7878 }, '0.0.0.0:7878'),
    )
    .option('--dial-out <url#key>', 'for a box behind NAT: the validator to dial instead', readDialOut)
    .option('--ssh-host <name>', 'how others reach the SSH server of this box')
    .option('--ssh-port <port>', 'its port', readWhole(1, 65_535), 22)
    .option('--host-key-file <file>', 'its public host key', '/etc/ssh/ssh_host_ed25519_key.pub')
    .option('--authorized-keys <file>', 'of the account we run in', join(homedir(), '.ssh', 'authorized_keys'))
    .option('--confinement <kind>', 'auto, container, account or shared', readConfinement, 'auto')
    .option('--image <name>', 'image for leases in containers')
    .option('--gpu-flags <flags>', 'flags that hand the cards to a container, separated by blanks')
    .addOption(
      new Option('--check <preset>', 'how to check this box before joining: tiny, devnet, mainnet or none')
        .argParser(readCheck)
        .default(PRESETS.mainnet, 'mainnet'),
    )
    .option('--devices <list>', `what the check runs on: ${DEVICES_HELP}`, readDevices, 'auto')
    .option('--requirements <file>', 'what the network asks of a box at the least, as JSON')
    .option('--claim <text>', 'what this box is sold as, for example "8x H100 SXM": the check must show it')
    .option('--json', 'print events as JSON, one per line')
    .addHelpText('after', AFTER_HELP)
    .action((flags: ProviderFlags) => context.run((signal) => provide(flags, context, signal)))
}

const AFTER_HELP = `
Confinement of a lease: a container (docker or podman, with --image), an account
made for it (needs root and useradd), or the account this runs in, shared and
without any isolation from it; auto takes the first of these that this box has.
docs/spec/leases.md says how access ends. Runs until Ctrl-C; what is open then
is closed on time all the same.

Example:
  touchstone provider --allow KEY --ssh-host gpu-1.example.org
then, where the key lives:
  touchstone verify "lease://gpu-1.example.org:7878#KEY_OF_THIS_PROVIDER"`

/** Two providers would each believe that the journal, the key and the leases are theirs alone. */
async function provide(flags: ProviderFlags, context: CommandContext, signal: AbortSignal): Promise<number> {
  const home = homeFolder(context.env)
  mkdirSync(home, { recursive: true, mode: 0o700 })
  const unlock = await lockFolder(join(home, 'leases'), () => fault('PROVIDER_RUNNING', { home }))
  try {
    return await provideAlone(flags, context, signal)
  } finally {
    await unlock()
  }
}

async function provideAlone(flags: ProviderFlags, { env }: CommandContext, signal: AbortSignal): Promise<number> {
  const home = homeFolder(env)
  const people = openTerminal(process.stdout, env)
  const say = (event: Record<string, unknown>): void => people.line(flags.json ? JSON.stringify(event) : spoken(event))
  const stateFolder = join(home, 'leases')
  // Before the check, which takes a minute: what is wrong in the command is told at once.
  const { access, confinement, noContainer } = await chooseAccess({
    stateFolder,
    host: sshHostOf(flags),
    port: flags.sshPort,
    hostKey: hostKeyOf(flags.hostKeyFile),
    user: userInfo().username,
    authorizedKeysFile: flags.authorizedKeys,
    isRoot: process.getuid?.() === 0,
    env,
    wanted: flags.confinement,
    ...(flags.image === undefined ? {} : { image: flags.image }),
    ...(flags.gpuFlags === undefined ? {} : { gpuFlags: flags.gpuFlags.split(' ') }),
  })
  if (noContainer !== '') say({ event: 'no container', why: noContainer })
  if (flags.claim !== undefined || flags.check !== 'none') await checkBefore(flags, env, signal)
  const { dialOut: far } = flags
  const service = new LeaseService({
    signer: loadSigner(home, 'provider', systemRandomness),
    clock: systemClock,
    journal: fileJournal(join(stateFolder, 'journal.json')),
    access: far === undefined ? access : tunnelledAccess(access, { url: far.url, sshPort: flags.sshPort }),
    seal: sealToKey,
    isAllowed: (holder, purpose) => isPermitted({ verify: flags.allow, rent: flags.allowRent }, holder, purpose),
    isNamed: (key) => flags.allow.includes(key) || flags.allowRent.includes(key),
    tell: (news) => say(describe(news)),
  })
  await service.recover()
  const timekeeper = keepTime(service, systemClock, signal)
  if (far === undefined) await listen(service, flags, { confinement, say }, signal)
  else
    await dialOut(
      far,
      dialDeps(service, () => say({ event: 'dialled', url: far.url, key: service.key })),
      signal,
    )
  await timekeeper
  return EXIT.genuine
}

/** An event for people: what happened, then every fact by its name. */
const spoken = ({ event, ...facts }: Record<string, unknown>): string => {
  const told = Object.entries(facts).filter(([, value]) => value !== undefined && value !== '')
  return [event, ...told.map(([name, value]) => `${name} ${value}`)].join('  ')
}

const dialDeps = (service: LeaseService, onUp: () => void): DialOutDeps => ({
  hello: (to) => service.hello(to),
  serve: (channel, signal) => serveLine(service, channel, signal),
  onUp,
})

/** Loads what verifying needs only when there is something to verify. */
async function checkBefore(flags: ProviderFlags, env: NodeJS.ProcessEnv, signal: AbortSignal): Promise<void> {
  const { loadCatalogue } = await import('../../drivers/system/loadCatalogue.ts')
  const catalogue = await loadCatalogue(cataloguePath())
  if (flags.claim !== undefined) requireClaim({ text: flags.claim, catalogue })
  if (flags.check === 'none') return
  const { selfCheck } = await import('./selfCheck.ts')
  await selfCheck({ ...checkOf(flags, flags.check, env), catalogue }, signal)
}

const checkOf = (flags: ProviderFlags, preset: Preset, env: NodeJS.ProcessEnv): Omit<SelfCheck, 'catalogue'> => ({
  preset,
  devices: flags.devices,
  ...(flags.requirements === undefined ? {} : { requirementsFile: flags.requirements }),
  claim: flags.claim ?? null,
  env,
  terminal: openTerminal(process.stderr, env),
})

const readCheck = (text: string): Preset | 'none' => (text === 'none' ? text : readPreset(text))

interface Voice {
  readonly confinement: Confinement
  readonly say: (event: Record<string, unknown>) => void
}

async function listen(
  service: LeaseService,
  flags: ProviderFlags,
  { confinement, say }: Voice,
  signal: AbortSignal,
): Promise<void> {
  const listener = await listenWs(flags.listen, (socket, _, seat) => {
    void serveLine(service, wsChannel(socket), signal, seat).catch(() => {})
  })
  const address = `lease://${flags.sshHost ?? flags.listen.host}:${listener.port}#${service.key}`
  say({ event: 'listening', port: listener.port, key: service.key, confinement, address })
  await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
  await listener.close()
}

function describe(news: LeaseNews): Record<string, unknown> {
  if (news.kind !== 'opened') return { event: news.kind, ...news, kind: undefined }
  const { id, purpose, holder, expiresAtMs } = news.lease
  const until = new Date(expiresAtMs).toISOString()
  return { event: 'opened', id, purpose, holder, until, confinement: news.details.confinement }
}

/** Only somebody on this machine, or at the end of a tunnel, finds its SSH server at 127.0.0.1. */
function sshHostOf({ sshHost, listen: { host }, dialOut: far }: ProviderFlags): string {
  if (sshHost !== undefined) return sshHost
  if (far !== undefined || host === '127.0.0.1') return '127.0.0.1'
  throw fault('SSH_HOST_MISSING')
}

/** As ssh prints it: SHA-256 of the key, base64 without padding. */
function hostKeyOf(path: string): string {
  try {
    const blob = Buffer.from(readFileSync(path, 'utf8').split(' ')[1] ?? '', 'base64')
    if (blob.length < 16) throw new Error('no key in it')
    return `SHA256:${createHash('sha256').update(blob).digest('base64').replace(/=+$/, '')}`
  } catch (cause) {
    throw fault('NO_HOST_KEY', { path }, cause)
  }
}

function readKeys(text: string): readonly string[] {
  const keys = text.split(',')
  if (keys.every((key) => /^[0-9a-f]{64}$/.test(key))) return keys
  throw new InvalidArgumentError('Use keys of 64 hex digits separated by commas.')
}

const readKeysOrAnyone = (text: string): readonly string[] => (text === 'anyone' ? [text] : readKeys(text))

function readListen(text: string): { host: string; port: number } {
  const match = /^\[?([A-Za-z0-9.:-]+?)\]?:([0-9]{1,5})$/.exec(text)
  if (match === null) throw new InvalidArgumentError('Use host:port, for example 0.0.0.0:7878.')
  return { host: match[1]!, port: Number(match[2]) }
}

function readDialOut(text: string): { url: string; key: string } {
  const match = /^(wss?:\/\/[^#\s]+)#([0-9a-f]{64})$/.exec(text)
  if (match === null) throw new InvalidArgumentError('Use wss://host:port#key, the key being that of the validator.')
  return { url: match[1]!, key: match[2]! }
}

function readConfinement(text: string): Confinement | 'auto' {
  const known = { auto: 'auto', container: 'container', account: 'own account', shared: 'shared account' } as const
  if (!Object.hasOwn(known, text)) throw new InvalidArgumentError('Use auto, container, account or shared.')
  return known[text as keyof typeof known]
}
