import { mkdirSync, readFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { keepTime, LeaseService, serveLine } from '../../apps/provider/leaseService.ts'
import { requireClaim } from '../../apps/shared/requireClaim.ts'
import { isPermitted } from '../../core/lease/leasePermissions.ts'
import type { Preset } from '../../core/params/presets.ts'
import { type Confinement, chooseAccess } from '../../drivers/lease/chooseAccess.ts'
import { dialOut } from '../../drivers/lease/dialOut.ts'
import { fileJournal } from '../../drivers/lease/fileJournal.ts'
import { tunnelledAccess } from '../../drivers/lease/tunnelledAccess.ts'
import { fingerprintOf } from '../../drivers/remote/ssh/knownHosts.ts'
import { homeFolder } from '../../drivers/system/homeFolder.ts'
import { lockFolder } from '../../drivers/system/lockFolder.ts'
import { sealToKey } from '../../drivers/system/sealToKey.ts'
import { listenWs, wsChannel } from '../../drivers/system/wsChannel.ts'
import { EXIT } from '../exitCodes.ts'
import { fault } from '../faults.ts'
import { openTerminal } from '../render/terminal.ts'
import type { CommandContext } from '../run.ts'
import { ownKey, readCatalogue, system } from '../system.ts'

/** What the command line says. */
export interface ProviderFlags {
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

/** Something that happened, with its facts. */
type LeaseEvent = Readonly<Record<string, unknown>>

/** Two providers would each believe that the journal, the key and the leases are theirs alone. */
export async function provide(flags: ProviderFlags, context: CommandContext, signal: AbortSignal): Promise<number> {
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
  const say = (event: LeaseEvent): void => people.line(flags.json ? JSON.stringify(event) : spoken(event))
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
    signer: ownKey(env, 'provider'),
    clock: system.clock,
    journal: fileJournal(join(stateFolder, 'journal.json')),
    access: far === undefined ? access : tunnelledAccess(access, { url: far.url, sshPort: flags.sshPort }),
    seal: sealToKey,
    isAllowed: (holder, purpose) => isPermitted({ verify: flags.allow, rent: flags.allowRent }, holder, purpose),
    isNamed: (key) => flags.allow.includes(key) || flags.allowRent.includes(key),
    tell: say,
  })
  await service.recover()
  const timekeeper = keepTime(service, system.clock, signal)
  if (far === undefined) await listen(service, flags, { confinement, say }, signal)
  else
    await dialOut(
      far,
      {
        hello: (to) => service.hello(to),
        serve: (channel, ended) => serveLine(service, channel, ended),
        onUp: () => say({ event: 'dialled', url: far.url, key: service.key }),
      },
      signal,
    )
  await timekeeper
  return EXIT.genuine
}

/** An event for people: what happened, then every fact by its name. */
const spoken = ({ event, ...facts }: LeaseEvent): string => {
  const told = Object.entries(facts).filter(([, value]) => value !== undefined && value !== '')
  return [event, ...told.map(([name, value]) => `${name} ${value}`)].join('  ')
}

/** Loads what verifying needs only when there is something to verify. */
async function checkBefore(flags: ProviderFlags, env: NodeJS.ProcessEnv, signal: AbortSignal): Promise<void> {
  const catalogue = await readCatalogue()
  if (flags.claim !== undefined) requireClaim(flags.claim, catalogue)
  if (flags.check === 'none') return
  const { selfCheck } = await import('./selfCheck.ts')
  await selfCheck(flags.check, flags, { catalogue, env }, signal)
}

async function listen(
  service: LeaseService,
  flags: ProviderFlags,
  { confinement, say }: { readonly confinement: Confinement; readonly say: (event: LeaseEvent) => void },
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

/** Only somebody on this machine, or at the end of a tunnel, finds its SSH server at 127.0.0.1. */
function sshHostOf({ sshHost, listen: { host }, dialOut: far }: ProviderFlags): string {
  if (sshHost !== undefined) return sshHost
  if (far !== undefined || host === '127.0.0.1') return '127.0.0.1'
  throw fault('SSH_HOST_MISSING')
}

function hostKeyOf(path: string): string {
  try {
    const blob = Buffer.from(readFileSync(path, 'utf8').split(' ')[1] ?? '', 'base64')
    if (blob.length < 16) throw new Error('no key in it')
    return fingerprintOf(blob)
  } catch (cause) {
    throw fault('NO_HOST_KEY', { path }, cause)
  }
}
