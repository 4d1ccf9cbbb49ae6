import { mkdirSync, readFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { keepTime, LeaseService, serveLine } from '../../apps/provider/leaseService.ts'
import { requireClaim } from '../../apps/shared/requireClaim.ts'
import { toHex } from '../../core/bytes/hex.ts'
import { isNamed, isPermitted } from '../../core/lease/leasePermissions.ts'
import type { Preset } from '../../core/params/presets.ts'
import { type Confinement, chooseAccess } from '../../drivers/lease/chooseAccess.ts'
import { dialOut } from '../../drivers/lease/dialOut.ts'
import { fileJournal } from '../../drivers/lease/fileJournal.ts'
import { tunnelledAccess } from '../../drivers/lease/tunnelledAccess.ts'
import { fingerprintOf } from '../../drivers/remote/ssh/knownHosts.ts'
import { cannotListen } from '../../drivers/system/listenHttp.ts'
import { sealToKey } from '../../drivers/system/sealToKey.ts'
import { listenWs, wsChannel } from '../../drivers/system/wsChannel.ts'
import { stateFolder } from '../../drivers/system/xdgFolders.ts'
import type { BoxAccess } from '../../ports/leases.ts'
import { EXIT } from '../exitCodes.ts'
import { fault } from '../faults.ts'
import { holdFolder } from '../holdFolder.ts'
import { openTerminal } from '../render/terminal.ts'
import type { CommandContext } from '../run.ts'
import { ownKey, readCatalogue, system } from '../system.ts'
import { eventLines, type LeaseEvent } from './eventLines.ts'
import { leasesFolder, ownRules } from './ownRules.ts'
import { leaveNote } from './runningProvider.ts'
import { trySsh } from './trySsh.ts'

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
  readonly sshCheck: boolean
  readonly devices: string
  readonly requirements?: string
  readonly claim?: string
  readonly verbose?: boolean
  readonly json?: boolean
}

/** Two providers would each believe that the journal, the key and the leases are theirs alone. */
export function provide(flags: ProviderFlags, context: CommandContext, signal: AbortSignal): Promise<number> {
  const home = stateFolder(context.env)
  mkdirSync(home, { recursive: true, mode: 0o700 })
  const held = { folder: leasesFolder(context.env), inUse: () => fault('PROVIDER_RUNNING', { home }) }
  return holdFolder(held, signal, (ended) => provideAlone(flags, context, ended))
}

async function provideAlone(flags: ProviderFlags, { env }: CommandContext, signal: AbortSignal): Promise<number> {
  const people = openTerminal(process.stdout, env)
  const say = (event: LeaseEvent): void => {
    const at = system.clock.wallTime()
    people.lines(flags.json ? [JSON.stringify({ ...event, at: at.toISOString() })] : eventLines(at, event))
  }
  const leases = leasesFolder(env)
  // Before the check, which takes a minute: what is wrong in the command is told at once.
  const { access, confinement, noContainer } = await chooseAccess({
    stateFolder: leases,
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
  if (flags.dialOut === undefined) await tryDoor(flags.listen)
  if (flags.sshCheck) await checkSsh(access, flags, { env, say }, signal)
  if (flags.claim !== undefined || flags.check !== 'none') await checkBefore(flags, env, signal)
  const { dialOut: far } = flags
  const permissions = { verify: flags.allow, rent: flags.allowRent, said: ownRules(env).of }
  const service = new LeaseService({
    signer: ownKey(env, 'provider'),
    clock: system.clock,
    journal: fileJournal(join(leases, 'journal.json')),
    access: far === undefined ? access : tunnelledAccess(access, { url: far.url, sshPort: flags.sshPort }),
    seal: sealToKey,
    isAllowed: (holder, purpose) => isPermitted(permissions, holder, purpose),
    isNamed: (key) => isNamed(permissions, key),
    tell: say,
  })
  await service.recover()
  const timekeeper = keepTime(service, system.clock, signal)
  if (far === undefined) await listen(service, flags, { confinement, say, env }, signal)
  else await dial(far, service, { flags, confinement, say, env }, signal)
  await timekeeper
  return EXIT.genuine
}

/** Loads what verifying needs only when there is something to verify. */
async function checkBefore(flags: ProviderFlags, env: NodeJS.ProcessEnv, signal: AbortSignal): Promise<void> {
  const catalogue = await readCatalogue()
  if (flags.claim !== undefined) requireClaim(flags.claim, catalogue)
  if (flags.check === 'none') return
  const { selfCheck } = await import('./selfCheck.ts')
  await selfCheck(flags.check, flags, { catalogue, env }, signal)
}

interface Around {
  readonly confinement: Confinement
  readonly say: (event: LeaseEvent) => void
  readonly env: NodeJS.ProcessEnv
}

/** What others would meet: a lease is opened and logged in to, before anybody is asked to rely on it. */
async function checkSsh(
  access: BoxAccess,
  { authorizedKeys, hostKeyFile }: ProviderFlags,
  { env, say }: Pick<Around, 'env' | 'say'>,
  signal: AbortSignal,
): Promise<void> {
  const key = toHex(ownKey(env, 'provider').publicKey)
  const why = await trySsh(access, { key, files: { keys: authorizedKeys, hostKey: hostKeyFile } }, signal)
  say(why === null ? { event: 'ssh works' } : { event: 'ssh works, but only from this box', why })
}

type Where = Parameters<typeof listenWs>[0]
type OnSocket = Parameters<typeof listenWs>[1]

async function listenAt(where: Where, onSocket: OnSocket) {
  try {
    return await listenWs(where, onSocket)
  } catch (cause) {
    throw cannotListen({ ...where, part: 'nobody can ask for this box', setting: '--listen' }, cause)
  }
}

/** Nobody is let in yet; whether it can be opened is told before minutes are spent. */
async function tryDoor(where: Where): Promise<void> {
  const { close } = await listenAt(where, (socket) => socket.terminate())
  await close()
}

const openDoor = (service: LeaseService, where: Where, signal: AbortSignal) =>
  listenAt(where, (socket, _, seat) => {
    void serveLine(service, wsChannel(socket), signal, seat).catch(() => {})
  })

async function listen(
  service: LeaseService,
  flags: ProviderFlags,
  { confinement, say, env }: Around,
  signal: AbortSignal,
): Promise<void> {
  const { host } = flags.listen
  const { port, close } = await openDoor(service, flags.listen, signal)
  const inAddress = (name: string) => (name.includes(':') ? `[${name}]` : name)
  const address = `lease://${inAddress(flags.sshHost ?? host)}:${port}#${service.key}`
  const near = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
  const url = `ws://${inAddress(near)}:${port}`
  const since = system.clock.wallTime().toISOString()
  const takeBack = leaveNote(env, { url, address, confinement, since, allow: flags.allow, allowRent: flags.allowRent })
  say({ event: 'listening', port, buyers: flags.allowRent.length, key: service.key, confinement, address })
  await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
  takeBack()
  await close()
}

/** Behind NAT nobody can come in but the commands of this box, on loopback. */
async function dial(
  far: NonNullable<ProviderFlags['dialOut']>,
  service: LeaseService,
  { flags: { allow, allowRent }, confinement, say, env }: Around & { readonly flags: ProviderFlags },
  signal: AbortSignal,
): Promise<void> {
  const { port, close } = await openDoor(service, { host: '127.0.0.1', port: 0 }, signal)
  const address = `lease://hub#${service.key}`
  const since = system.clock.wallTime().toISOString()
  const takeBack = leaveNote(env, { url: `ws://127.0.0.1:${port}`, address, confinement, since, allow, allowRent })
  try {
    await dialOut(
      far,
      {
        hello: (to) => service.hello(to),
        serve: (channel, ended) => serveLine(service, channel, ended),
        onUp: () => say({ event: 'dialled', url: far.url, key: service.key }),
      },
      signal,
    )
  } finally {
    takeBack()
    await close()
  }
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
