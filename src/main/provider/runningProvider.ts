import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { toHex } from '../../core/bytes/hex.ts'
import { holderOf } from '../../core/lease/leaseBook.ts'
import { fileJournal } from '../../drivers/lease/fileJournal.ts'
import { askLiveness } from '../../drivers/remote/leased/askLiveness.ts'
import type { ProviderLine } from '../../drivers/remote/leased/askProvider.ts'
import { giveBack } from '../../drivers/remote/leased/connectLeased.ts'
import { isFolderLocked } from '../../drivers/system/lockFolder.ts'
import { readIfThere, writeAside } from '../../drivers/system/writeAside.ts'
import { dialWs, MESSAGES, wsChannel } from '../../drivers/system/wsChannel.ts'
import { stateFolder } from '../../drivers/system/xdgFolders.ts'
import { EXIT } from '../exitCodes.ts'
import { fault } from '../faults.ts'
import { openTerminal } from '../render/terminal.ts'
import type { CommandContext } from '../run.ts'
import { ownKey, system } from '../system.ts'

/** What a running provider leaves for the commands beside it. */
const noteSchema = z.object({
  /** Where it answers on this machine. */
  url: z.string(),
  address: z.string(),
  confinement: z.string(),
  since: z.string(),
})
type Note = z.infer<typeof noteSchema>

const noteFile = (env: NodeJS.ProcessEnv): string => join(stateFolder(env), 'leases', 'provider.json')

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
  const { data: note } = noteSchema.safeParse(await parsed(noteFile(env)))
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
  const isStarting = await isFolderLocked(join(home, 'leases'))
  return fault(isStarting ? 'PROVIDER_STARTING' : 'PROVIDER_NOT_RUNNING', { home }, cause)
}

async function parsed(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readIfThere(path, 'null'))
  } catch {
    return null
  }
}

const heldLease = async (env: NodeJS.ProcessEnv) => {
  const held = holderOf(await fileJournal(join(stateFolder(env), 'leases', 'journal.json')).read())
  if (held === null) return null
  const { id, holder, purpose, expiresAtMs } = held
  return { id, holder, purpose, until: new Date(expiresAtMs).toISOString() }
}

interface Flags {
  readonly json?: boolean
}

/** `provider status`: whether it answers, what others reach it by, and who has the box until when. */
export function showProvider({ json }: Flags, context: CommandContext, signal: AbortSignal): Promise<number> {
  return dialOwn(context, signal, async (line, { address, confinement, since }, deps) => {
    const { state } = await askLiveness(line, deps, signal)
    const lease = await heldLease(context.env)
    const people = openTerminal(process.stdout, context.env)
    if (json) people.line(JSON.stringify({ state, key: line.key, address, confinement, since, lease }))
    else
      people.lines([
        `${state.padEnd(12)}provider up since ${since}`,
        ...(lease === null ? [] : [`lease       ${lease.id}`, `            to ${lease.purpose}, until ${lease.until}`]),
        ...(lease === null ? [] : [`holder      ${lease.holder}`]),
        `confined    ${confinement}`,
        address,
      ])
    return EXIT.genuine
  })
}

/** `provider revoke`: ends the lease that is open, whoever holds it. */
export function revokeLease({ json }: Flags, context: CommandContext, signal: AbortSignal): Promise<number> {
  return dialOwn(context, signal, async (line, _, deps) => {
    const lease = await heldLease(context.env)
    if (lease === null) throw fault('NOTHING_LEASED')
    const answer = await giveBack(line, lease.id, deps)
    if (answer.kind !== 'released') throw fault('NOTHING_LEASED')
    const people = openTerminal(process.stdout, context.env)
    people.line(json ? JSON.stringify({ revoked: lease }) : `revoked ${lease.id}; its access is gone`)
    return EXIT.genuine
  })
}
