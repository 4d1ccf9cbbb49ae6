import { rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { z } from 'zod'
import { toHex } from '../../core/bytes/hex.ts'
import { jsonIn } from '../../core/bytes/jsonIn.ts'
import type { CheckedEvidence } from '../../core/certificate/checkCertificate.ts'
import { placeOf } from '../../core/certificate/statement.ts'
import { type Verdict, verdictOfCheck } from '../../core/certificate/verdict.ts'
import type { AccessDetails } from '../../core/lease/leaseMessages.ts'
import { giveBack } from '../../drivers/remote/leased/connectLeased.ts'
import { openSshKey } from '../../drivers/remote/leased/openSshKey.ts'
import { readLeaseKey, rentBox } from '../../drivers/remote/leased/rentBox.ts'
import { quoteForShell } from '../../drivers/remote/ssh/quoteForShell.ts'
import { readIfThere, writeAside } from '../../drivers/system/writeAside.ts'
import { stateFolder } from '../../drivers/system/xdgFolders.ts'
import { checkLeaseAddress, dialProvider } from '../boxes/openLeasedBox.ts'
import { EXIT, exitOfCheck } from '../exitCodes.ts'
import { fault } from '../faults.ts'
import { openTerminal } from '../render/terminal.ts'
import { type CommandContext, tellFault } from '../run.ts'
import { ownKey, system } from '../system.ts'

/** What the command line says. */
export interface RentFlags {
  readonly hours?: number
  readonly key?: string
  readonly proof?: string
  readonly full?: string
  readonly claim?: string
  readonly unproven?: boolean
  readonly trust: readonly Uint8Array[]
  readonly leaseNetworks?: readonly string[]
  readonly end?: boolean
  readonly verbose?: boolean
  readonly json?: boolean
}

const noteSchema = z.object({ id: z.string(), untilMs: z.number() })
type Note = z.infer<typeof noteSchema>

/** What this machine remembers of a box it rents, by the provider's key: a box has one lease at a time. */
function notesOf({ env }: CommandContext, key: string) {
  const at = (name: string): string => join(stateFolder(env), 'rents', `${key}.${name}`)
  const secret = { mode: 0o600 }
  return {
    read: async (): Promise<Note | null> => {
      const { data: note } = noteSchema.safeParse(jsonIn(await readIfThere(at('json'))))
      return note ?? null
    },
    write: (note: Note): void => writeAside(at('json'), JSON.stringify(note), { ...secret, flush: true }),
    keep: (name: 'key' | 'known_hosts', text: string): string => {
      writeAside(at(name), text, secret)
      return at(name)
    },
    forget: (): void => ['json', 'key', 'known_hosts'].forEach((name) => void rmSync(at(name), { force: true })),
  }
}

/** Shows what was proven, takes the lease, logs in once, and hands on how. */
export async function rent(
  address: string,
  flags: RentFlags,
  context: CommandContext,
  signal: AbortSignal,
): Promise<number> {
  const { proof, unproven = false, json = false } = flags
  checkLeaseAddress(address)
  const { exit, verdict, isOfAnother } =
    proof === undefined ? UNSEEN : await checkProof(proof, address, flags, context, signal)
  if (isOfAnother) {
    tellFault(fault('PROOF_OF_ANOTHER_BOX', { file: proof! }), json)
    return EXIT.rejected
  }
  const isOpen = exit === EXIT.notEstablished
  if (exit !== EXIT.genuine && !(isOpen && unproven)) {
    tellFault(fault(NOTHING_RENTED[verdict] ?? 'PROOF_REFUSED', { file: proof! }), json)
    return exit
  }
  const chosen = flags.key === undefined ? null : readLeaseKey(flags.key)
  const key = chosen ?? openSshKey(system.randomness.bytes(32))
  const line = await dialProvider(address, undefined, signal)
  const notes = notesOf(context, line.key)
  try {
    const before = await notes.read()
    if (before !== null && before.untilMs > system.clock.wallTime().getTime())
      throw fault('RENTED_ALREADY', { until: timeOf(before.untilMs), address })
    const seconds = Math.round(flags.hours! * 3600)
    const id = toHex(system.randomness.bytes(16))
    // Before it is asked for: whatever happens afterwards, --end knows what to give back.
    notes.write({ id, untilMs: system.clock.wallTime().getTime() + 1000 * seconds })
    const { leaseNetworks: networks } = flags
    const wish = { purpose: 'rent', seconds, signer: ownKey(context.env, 'validator'), clock: system.clock } as const
    const rented = await rentBox(line, { ...wish, ...(networks && { networks }) }, { id, key }, signal).catch(
      (error) => {
        // The one before may be open still: its end was the provider's word.
        if (before === null) notes.forget()
        else notes.write(before)
        throw error
      },
    )
    const { details, untilMs, hostKeyLine } = rented
    notes.write({ id, untilMs })
    const identity = chosen === null ? notes.keep('key', key.privateKey) : resolve(flags.key!)
    const ssh = sshLine(details, identity, notes.keep('known_hosts', hostKeyLine))
    show(
      {
        id,
        until: timeOf(untilMs),
        confinement: details.confinement,
        ssh,
        end: quoteForShell(['touchstone', 'rent', address, '--end']),
      },
      flags,
      context,
    )
    return EXIT.genuine
  } finally {
    line.channel.close()
  }
}

/** Nothing was handed in, and nothing is held against the box. */
const UNSEEN = { exit: EXIT.genuine, verdict: 'genuine', isOfAnother: false } as const

const NOTHING_RENTED: Partial<Record<Verdict, 'PROOF_OPEN' | 'PROOF_NOT_AS_CLAIMED'>> = {
  'not-established': 'PROOF_OPEN',
  'not-as-claimed': 'PROOF_NOT_AS_CLAIMED',
}

/** The same check as "touchstone check", shown as it shows it, of a file about a box, and whether that is another one. */
async function checkProof(
  file: string,
  address: string,
  { trust, full, claim, verbose, json }: RentFlags,
  { env }: CommandContext,
  signal: AbortSignal,
) {
  const { runCheck, showCheck } = await import('../check/checkFile.ts')
  const asked = {
    ...(full !== undefined && { full }),
    ...(claim !== undefined && { claim }),
    ...(json && { json }),
    ...(verbose && { verbose }),
  }
  const flags = { trust, signers: 1, boxesOnly: true, ...asked }
  const { shown } = await runCheck(file, flags, { env, own: ownKey(env, 'validator').publicKey }, signal)
  showCheck(shown, flags, env)
  if (!json) openTerminal(process.stdout, env).line('')
  return {
    exit: exitOfCheck(shown.checked),
    verdict: verdictOfCheck(shown.checked),
    isOfAnother: namesAnother(shown.checked, address),
  }
}

/** Attack 190: where the signer says that it found the box at a provider, that is one key, wherever it stands. */
function namesAnother(checked: CheckedEvidence, address: string): boolean {
  if (checked.kind !== 'certificate' || checked.problem) return false
  const place = placeOf(checked.read.statement.predicate) ?? ''
  return place.startsWith('lease:') && keyIn(place) !== keyIn(address)
}

const keyIn = (address: string): string => address.slice(address.indexOf('#') + 1)

const timeOf = (ms: number): string => new Date(ms).toISOString()

const sshLine = ({ user, host, port }: AccessDetails, identity: string, knownHosts: string): string =>
  quoteForShell([
    ...['ssh', '-i', identity, '-o', 'IdentitiesOnly=yes', '-o', `UserKnownHostsFile=${knownHosts}`],
    ...['-o', 'StrictHostKeyChecking=yes', '-p', String(port), `${user}@${host}`],
  ])

type Shown = Readonly<Record<'id' | 'until' | 'ssh' | 'end', string>> & Pick<AccessDetails, 'confinement'>

const MEANING = {
  container: 'a container of its own; commands only, no terminal',
  'own account': 'an account of its own, removed with the lease',
  'shared account': "the provider's own account, without isolation; commands only, no terminal",
} as const

function show({ id, until, confinement, ssh, end }: Shown, { json }: RentFlags, { env }: CommandContext): void {
  const people = openTerminal(process.stdout, env)
  const told = [
    `rented      until ${until}`,
    `into        as the provider says: ${MEANING[confinement]}`,
    'log in      (tried once, and it works)',
    `  ${ssh}`,
    'give back',
    `  ${end}`,
  ]
  people.lines(json ? [JSON.stringify({ rented: { id, until, ssh, told: { confinement } } })] : told)
}

/** Gives a box back before its time. */
export async function endRent(
  address: string,
  { json }: RentFlags,
  context: CommandContext,
  signal: AbortSignal,
): Promise<number> {
  const line = await dialProvider(address, undefined, signal)
  try {
    const notes = notesOf(context, line.key)
    const note = await notes.read()
    if (note === null) throw fault('NOT_RENTED', { address })
    const answer = await giveBack(line, note.id, { signer: ownKey(context.env, 'validator'), clock: system.clock })
    // What the provider does not know any more is over too.
    const isOver = answer.kind === 'released' || (answer.kind === 'refused' && answer.code === 'NO_SUCH_LEASE')
    if (!isOver) throw fault('NOT_GIVEN_BACK', { said: answer.kind === 'refused' ? answer.code : answer.kind })
    notes.forget()
    const people = openTerminal(process.stdout, context.env)
    people.line(json ? JSON.stringify({ ended: note.id }) : 'given back; the key that was made for it is deleted')
    return EXIT.genuine
  } finally {
    line.channel.close()
  }
}
