import { rmSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { toHex } from '../../core/bytes/hex.ts'
import { jsonIn } from '../../core/bytes/jsonIn.ts'
import { LEASE_PURPOSES } from '../../core/lease/leaseBook.ts'
import { isPermitted } from '../../core/lease/leasePermissions.ts'
import type { KeyRules } from '../../drivers/lease/keyRules.ts'
import { askLiveness } from '../../drivers/remote/leased/askLiveness.ts'
import type { ProviderLine } from '../../drivers/remote/leased/askProvider.ts'
import { giveBack } from '../../drivers/remote/leased/connectLeased.ts'
import { isFolderLocked, stopHolder } from '../../drivers/system/lockFolder.ts'
import { writeAside } from '../../drivers/system/writeAside.ts'
import { dialWs, MESSAGES, wsChannel } from '../../drivers/system/wsChannel.ts'
import { stateFolder } from '../../drivers/system/xdgFolders.ts'
import { EXIT } from '../exitCodes.ts'
import { fault } from '../faults.ts'
import { openTerminal } from '../render/terminal.ts'
import type { CommandContext } from '../run.ts'
import { ownKey, system } from '../system.ts'
import { heldLease, leasesFolder, ownRules, ruleLine } from './ownRules.ts'

/** What a running provider leaves for the commands beside it. */
const noteSchema = z.object({
  /** Where it answers on this machine. */
  url: z.string(),
  address: z.string(),
  confinement: z.string(),
  since: z.string(),
  /** The keys of its command line. */
  allow: z.array(z.string()).readonly(),
  allowRent: z.array(z.string()).readonly(),
})
type Note = z.infer<typeof noteSchema>

const noteFile = (env: NodeJS.ProcessEnv): string => join(leasesFolder(env), 'provider.json')

/** Tells `status` and `revoke` where this provider is; what is returned takes it back. */
export function leaveNote(env: NodeJS.ProcessEnv, note: Note): () => void {
  writeAside(noteFile(env), JSON.stringify(note), { mode: 0o600 })
  return () => rmSync(noteFile(env), { force: true })
}

/** A line to the provider of this account, signed by its own key. */
async function dialOwn<T>(
  { env }: CommandContext,
  signal: AbortSignal,
  work: (line: ProviderLine, note: Note, deps: typeof system & { signer: ReturnType<typeof ownKey> }) => Promise<T>,
): Promise<T> {
  const signer = ownKey(env, 'provider')
  const key = toHex(signer.publicKey)
  const { data: note } = noteSchema.safeParse(jsonIn(await readFile(noteFile(env), 'utf8').catch(() => '')))
  if (note === undefined) throw await notListening(env)
  const socket = await dialWs(note.url, MESSAGES, signal).catch(async (cause: unknown) => {
    throw await notListening(env, cause)
  })
  const channel = wsChannel(socket)
  try {
    return await work({ channel, key }, note, { ...system, signer })
  } finally {
    channel.close()
  }
}

/** A provider holds its folder from its first moment, and listens only after its checks. */
async function notListening(env: NodeJS.ProcessEnv, cause?: unknown) {
  const home = stateFolder(env)
  const isStarting = await isFolderLocked(leasesFolder(env))
  return fault(isStarting ? 'PROVIDER_STARTING' : 'PROVIDER_NOT_RUNNING', { home }, cause)
}

interface Flags {
  readonly json?: boolean
  readonly deny?: boolean
}

/** `provider status`: whether it answers, what others reach it by, who may have the box, and who has it until when. */
export function showProvider({ json }: Flags, context: CommandContext, signal: AbortSignal): Promise<number> {
  return dialOwn(context, signal, async (line, { address, confinement, since, ...named }, deps) => {
    const { state } = await askLiveness(line, deps, signal)
    const lease = await heldLease(context.env)
    const rules = ownRules(context.env)
    const keys = [...new Set([...named.allow, ...named.allowRent, ...rules.keys()])].map((key) => ({
      key,
      may: mayNow(key, named, rules),
    }))
    const people = openTerminal(process.stdout, context.env)
    if (json) people.line(JSON.stringify({ state, key: line.key, address, confinement, since, lease, keys }))
    else
      people.lines([
        `${state.padEnd(12)}provider up since ${since}`,
        ...(lease === null ? [] : [`lease       ${lease.id}`, `            to ${lease.purpose}, until ${lease.until}`]),
        ...(lease === null ? [] : [`holder      ${lease.holder}`]),
        ...keys.map(({ key, may }) => ruleLine(key, may)),
        `confined    ${confinement}`,
        address,
      ])
    return EXIT.genuine
  })
}

/** What a key, or `anyone`, may have the box for now. */
function mayNow(key: string, { allow, allowRent }: Pick<Note, 'allow' | 'allowRent'>, rules: KeyRules) {
  const permissions = { verify: allow, rent: allowRent, said: rules.of }
  return LEASE_PURPOSES.filter((purpose) => isPermitted(permissions, key, purpose))
}

/** `provider revoke`: ends the lease that is open, whoever holds it, and keeps its holder out where that is asked for. */
export function revokeLease({ json, deny }: Flags, context: CommandContext, signal: AbortSignal): Promise<number> {
  return dialOwn(context, signal, async (line, named, deps) => {
    const lease = await heldLease(context.env)
    if (lease === null) throw fault('NOTHING_LEASED')
    // First, so that there is no moment in which it could rent again.
    const rules = ownRules(context.env)
    if (deny) rules.set(lease.holder, [])
    const answer = await giveBack(line, lease.id, deps)
    if (answer.kind !== 'released') throw fault('NOTHING_LEASED')
    const isKeptOut = mayNow(lease.holder, named, rules).length === 0
    const people = openTerminal(process.stdout, context.env)
    if (json) people.line(JSON.stringify({ revoked: lease, keptOut: isKeptOut }))
    else
      people.lines([
        `revoked ${lease.id}; its access is gone`,
        isKeptOut
          ? ruleLine(lease.holder, [])
          : `its holder may ask again; to keep it out: touchstone provider deny ${lease.holder}`,
      ])
    return EXIT.genuine
  })
}

/** `provider stop`: ends the provider of this account, and the lease that is open with it, as Ctrl-C does. */
export async function stopProvider({ json }: Flags, { env }: CommandContext, signal: AbortSignal): Promise<number> {
  const lease = await heldLease(env)
  if (!(await stopHolder(leasesFolder(env), signal))) throw fault('PROVIDER_NOT_RUNNING', { home: stateFolder(env) })
  const people = openTerminal(process.stdout, env)
  if (json) people.line(JSON.stringify({ stopped: true, lease }))
  else
    people.lines([
      'stopped',
      ...(lease === null ? [] : [`ended with it: the lease of ${lease.holder} to ${lease.purpose}`]),
    ])
  return EXIT.genuine
}
