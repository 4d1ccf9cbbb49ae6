import { execFile, spawn } from 'node:child_process'
import { existsSync, type StatsFs } from 'node:fs'
import { chmod, chown, mkdir, readdir, rename, stat, statfs, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { lastWords } from '../../core/bytes/printable.ts'
import type { Lease } from '../../core/lease/leaseBook.ts'
import type { AccessDetails } from '../../core/lease/leaseMessages.ts'
import type { BoxAccess } from '../../ports/leases.ts'
import { readIfThere, wholeLines } from '../system/writeAside.ts'
import { fault } from './faults.ts'
import { WATCHDOG } from './leaseScripts.ts'

const run = promisify(execFile)
const COMMAND_LIMIT_MS = 60_000

/** Paths end up in authorized_keys, where they are read by a shell: only letters that need no quotes. */
const SAFE_PATH = /^\/[A-Za-z0-9._/-]+$/

export const tagOf = (id: string): string => `touchstone-lease-${id}`

export function ensureSafePath(path: string): string {
  if (SAFE_PATH.test(path)) return path
  throw fault('UNSAFE_PATH', { path })
}

/** Ids name files, accounts and containers: nothing but hex goes further. */
export function ensureLeaseId(id: string): string {
  if (/^[0-9a-f]{32}$/.test(id)) return id
  throw fault('BAD_LEASE_ID')
}

/** Runs a program with fixed arguments; its failure is a fault of the provider's own box. */
export async function runHere(argv: readonly string[], during: string): Promise<string> {
  const [program = '', ...rest] = argv
  try {
    const { stdout } = await run(program, rest, { timeout: COMMAND_LIMIT_MS, maxBuffer: 1024 * 1024 })
    return stdout
  } catch (cause) {
    throw fault('ACCESS_COMMAND_FAILED', { during, program, words: lastWordsOf(cause) }, cause)
  }
}

/** What a program wrote before it failed, as the end of a sentence. */
export function lastWordsOf(cause: unknown): string {
  const { stderr } = cause as { stderr?: unknown }
  const words = typeof stderr === 'string' ? lastWords(stderr) : ''
  return words === '' ? '' : `: ${words}`
}

/** The watchdog looks once a second, so it aims a second early: access ends within the lease, not after it. */
const EARLY_SECONDS = 1

/** Starts the process that ends this lease on time even if the provider is killed; it is nobody's child. */
function startWatchdog(folder: string, lease: Lease, nowMs: number, closeArgv: readonly string[]): void {
  const seconds = Math.ceil((lease.expiresAtMs - nowMs) / 1000)
  const end = Math.floor(lease.expiresAtMs / 1000) - EARLY_SECONDS
  const args = ['-c', WATCHDOG, 'sh', folder, String(seconds), String(end), ...closeArgv]
  spawn('/bin/sh', args, { detached: true, stdio: 'ignore', cwd: '/' }).unref()
}

/** OpenSSH 8.2 and newer refuse the key after this; local time, as sshd reads it. */
export function expiryOption(expiresAtMs: number): string {
  const at = new Date(Math.floor(expiresAtMs / 1000) * 1000)
  const two = (value: number): string => String(value).padStart(2, '0')
  const day = `${at.getFullYear()}${two(at.getMonth() + 1)}${two(at.getDate())}`
  return `expiry-time="${day}${two(at.getHours())}${two(at.getMinutes())}${two(at.getSeconds())}"`
}

/**
 * One line of authorized_keys that ends with the lease and, where there is a command, runs nothing else. Whoever rents an
 * account of its own may have a terminal and forward ports: its programs could do both by themselves.
 */
export function keyLine({ id, expiresAtMs, sshKey, purpose }: Lease, command?: string): string {
  const forced = command === undefined ? '' : `,command="${command}"`
  const more = command === undefined && purpose === 'rent' ? ',pty,port-forwarding' : ''
  return `restrict${more},${expiryOption(expiresAtMs)}${forced} ${sshKey} ${tagOf(id)}`
}

/** Adds one line to authorized_keys: the old file or the new one, never half of it, with the old one's owner and mode. */
export async function addKeyLine(path: string, line: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const before = await readIfThere(path)
  const old = before === '' ? null : await stat(path)
  const aside = `${path}.touchstone`
  await writeFile(aside, `${wholeLines(before)}${line}\n`, { mode: 0o600 })
  if (old !== null) {
    await chmod(aside, old.mode & 0o777)
    await chown(aside, old.uid, old.gid)
  }
  await rename(aside, path)
}

/** How one kind of confinement lets a key in and takes it away again. */
interface Confining {
  readonly stateFolder: string
  readonly roomWaitMs?: number | undefined
  /** What closing is called where it fails. */
  readonly closing: string
  /** A program for /bin/sh that takes everything away; it renames the folder first, and is safe to run twice. */
  readonly closeScript: string
  closeArguments(id: string, folder: string): readonly string[]
  /** Lets the lease's key in. The watchdog runs by then. */
  letIn(lease: Lease, folder: string): Promise<AccessDetails>
}

/** A release that brings its own Node has room in so much, and its files are far fewer. */
const ROOM = { bytes: 256 * 2 ** 20, files: 4096 }
/** How long whoever asks waits for it, of the minute after which a validator calls a provider silent. */
const ROOM_WAIT_MS = 8_000
const ROOM_LOOK_MS = 500

/** What closing has not removed by then it does no more: the machine went down meanwhile. */
const LONGEST_CLOSING_MS = 3_600_000

/** Folders of leases that are over, for as long as anything of them is being removed. */
async function closingIn(open: string): Promise<readonly string[]> {
  const names = await readdir(open).catch((): string[] => [])
  const closing: string[] = []
  for (const folder of names.filter((name) => name.endsWith('.closed')).map((name) => join(open, name))) {
    const { mtimeMs } = await stat(folder).catch(() => ({ mtimeMs: 0 }))
    if (Date.now() - mtimeMs < LONGEST_CLOSING_MS) closing.push(folder)
  }
  return closing
}

/** Whether there is room where the home of that lease was. */
async function hasRoom(closing: string): Promise<boolean> {
  const home = await readIfThere(join(closing, 'home'))
  if (home === '') return true
  return isRoomy(await statfs(dirname(home.trim())))
}

/** Some file systems have no limit of files, and say 0. */
export const isRoomy = ({ bavail, bsize, files, ffree }: Omit<StatsFs, 'type' | 'blocks' | 'bfree'>): boolean =>
  bavail * bsize >= ROOM.bytes && (files === 0 || ffree >= ROOM.files)

/** What is large is gone in a moment; files without number take their time. */
async function awaitRoom(open: string, waitMs: number, signal: AbortSignal): Promise<readonly string[]> {
  const endMs = performance.now() + waitMs
  for (;;) {
    const closing = await closingIn(open)
    const roomy = await Promise.all(closing.map(hasRoom))
    if (roomy.every(Boolean)) return closing
    if (performance.now() >= endMs) throw fault('STILL_CLEARING')
    await delay(ROOM_LOOK_MS, undefined, { signal })
  }
}

/**
 * The order that every confinement keeps: the folder, which lasts as long as the lease, the watchdog, the way in, and a
 * last look: where the watchdog has ended the lease meanwhile, what was opened after it is closed by us. Every close
 * renames the folder before it looks for anything to close, so nothing falls between the two.
 */
export function confinedAccess(confining: Confining): BoxAccess {
  const { stateFolder, roomWaitMs = ROOM_WAIT_MS } = confining
  const folderOf = (id: string): string => ensureSafePath(join(stateFolder, 'open', ensureLeaseId(id)))
  const closeArgv = (id: string): readonly string[] => [
    ...['/bin/sh', '-c', confining.closeScript, 'sh'],
    ...confining.closeArguments(id, folderOf(id)),
  ]
  const close = async (id: string): Promise<void> => {
    await runHere(closeArgv(id), confining.closing)
  }
  const open = async (lease: Lease): Promise<AccessDetails> => {
    const folder = folderOf(lease.id)
    await mkdir(folder, { recursive: true, mode: 0o700 })
    startWatchdog(folder, lease, Date.now(), closeArgv(lease.id))
    const details = await confining.letIn(lease, folder)
    if (existsSync(folder)) return details
    await close(lease.id)
    throw fault('LEASE_TOO_SHORT')
  }
  return {
    open: async (lease, signal) => {
      const closing = await awaitRoom(join(stateFolder, 'open'), roomWaitMs, signal)
      try {
        return await open(lease)
      } catch (error) {
        throw closing.length > 0 ? fault('STILL_CLEARING', {}, error) : error
      }
    },
    close,
  }
}
