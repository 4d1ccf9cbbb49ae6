import { join } from 'node:path'
import { holderOf, LEASE_PURPOSES, type LeasePurpose } from '../../core/lease/leaseBook.ts'
import { fileJournal } from '../../drivers/lease/fileJournal.ts'
import { type KeyRules, keyRules } from '../../drivers/lease/keyRules.ts'
import { codeOf } from '../../drivers/system/codeOf.ts'
import { isFolderLocked } from '../../drivers/system/lockFolder.ts'
import { readRegularFile } from '../../drivers/system/readRegularFile.ts'
import { stateFolder } from '../../drivers/system/xdgFolders.ts'
import { EXIT } from '../exitCodes.ts'
import { fault } from '../faults.ts'
import { openTerminal } from '../render/terminal.ts'
import type { CommandContext } from '../run.ts'

/** Where a provider keeps what it knows of its leases; who holds it is the one that runs. */
export const leasesFolder = (env: NodeJS.ProcessEnv): string => join(stateFolder(env), 'leases')

export const ownRules = (env: NodeJS.ProcessEnv): KeyRules => keyRules(join(leasesFolder(env), 'keys'))

/** The lease that is open, as its owner is told of it. */
export async function heldLease(env: NodeJS.ProcessEnv) {
  const held = holderOf(await fileJournal(join(leasesFolder(env), 'journal.json')).read())
  if (held === null) return null
  const { id, holder, purpose, expiresAtMs } = held
  return { id, holder, purpose, until: new Date(expiresAtMs).toISOString() }
}

export interface KeyFlags {
  readonly file?: string
  readonly to?: readonly LeasePurpose[]
  readonly json?: boolean
}

const MOST_KEYS = 10_000

/** `provider allow`: these keys get in from now on; who has the box keeps it. */
export function allowKeys(given: readonly string[], flags: KeyFlags, { env }: CommandContext): Promise<number> {
  const may = flags.to ?? LEASE_PURPOSES
  return setKeys(keysOf(given, flags), may, { json: flags.json, env }, () => [])
}

/** `provider deny`: these keys are kept out from now on; a lease that one of them has stays until it is revoked. */
export function denyKeys(given: readonly string[], flags: KeyFlags, { env }: CommandContext): Promise<number> {
  const keys = keysOf(given, flags)
  return setKeys(keys, [], { json: flags.json, env }, (lease) =>
    lease === null || !keys.includes(lease.holder)
      ? []
      : [
          `${lease.holder} still has the box to ${lease.purpose}, until ${lease.until}`,
          'end that too with: touchstone provider revoke',
        ],
  )
}

type Held = Awaited<ReturnType<typeof heldLease>>

async function setKeys(
  keys: readonly string[],
  may: readonly LeasePurpose[],
  { json, env }: { readonly json: boolean | undefined; readonly env: NodeJS.ProcessEnv },
  more: (lease: Held) => readonly string[],
): Promise<number> {
  const rules = ownRules(env)
  for (const key of keys) rules.set(key, may)
  const running = await isFolderLocked(leasesFolder(env))
  const lease = await heldLease(env)
  const people = openTerminal(process.stdout, env)
  if (json) people.line(JSON.stringify({ keys, may, running, lease }))
  else
    people.lines([
      ...keys.map((key) => ruleLine(key, may)),
      ...more(lease),
      ...(running ? [] : [`no provider runs with ${stateFolder(env)}: it counts from its next start`]),
    ])
  return EXIT.genuine
}

/** One key and what it may do, as `status` shows it too. */
export const ruleLine = (key: string, may: readonly LeasePurpose[]): string =>
  may.length === 0 ? `kept out    ${key}` : `allowed     ${key} to ${may.join(' and ')}`

const HELP = 'touchstone provider allow --help'
const IS_KEY = /^[0-9a-f]{64}$/

/** All of them, or none: a list with a slip in it changes nothing. */
function keysOf(given: readonly string[], { file }: KeyFlags): readonly string[] {
  const lines =
    file === undefined
      ? []
      : textOf(file)
          .split('\n')
          .map((line) => line.replace(/#.*/, '').trim())
  const keys = [...new Set([...given, ...lines.filter((line) => line !== '')].map((key) => key.toLowerCase()))]
  const wrong = keys.find((key) => !IS_KEY.test(key))
  if (wrong !== undefined)
    throw fault('USAGE', { why: `"${wrong.slice(0, 80)}" is not a key: a key is 64 hex digits`, help: HELP })
  if (keys.length === 0) throw fault('USAGE', { why: 'name a key, or a file with one key a line (--file)', help: HELP })
  if (keys.length > MOST_KEYS) throw fault('USAGE', { why: `name at most ${MOST_KEYS} keys at a time`, help: HELP })
  return keys
}

const MOST_BYTES = 1_000_000

function textOf(file: string): string {
  const cannot = (why: string) => fault('USAGE', { why: `cannot read ${file}: ${why}`, help: HELP })
  let read: Uint8Array | number
  try {
    read = readRegularFile(file, MOST_BYTES)
  } catch (error) {
    throw cannot(codeOf(error) || 'not a regular file')
  }
  if (typeof read === 'number') throw cannot(`it is larger than ${MOST_BYTES} bytes`)
  return new TextDecoder().decode(read)
}
