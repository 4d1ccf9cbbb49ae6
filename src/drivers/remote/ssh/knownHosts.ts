import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { lstatSync, statSync } from 'node:fs'
import { readRegularFile } from '../../system/readRegularFile.ts'
import { wholeLines, writeAside } from '../../system/writeAside.ts'
import { fault } from '../faults.ts'
import { parseSshAddress } from './sshAddress.ts'

/** A public host key as it goes over the wire: string type, then the rest. */
export interface HostKeyLine {
  readonly marker: 'revoked' | 'cert-authority' | null
  /** Comma-separated patterns, or one `|1|salt|hash`. */
  readonly hosts: string
  readonly type: string
  readonly blob: Buffer
}

const LINE = /^(?:@(revoked|cert-authority)[ \t]+)?(\S+)[ \t]+([a-z0-9@.-]+)[ \t]+([A-Za-z0-9+/]+={0,2})(?:[ \t].*)?$/

/** Lines that are not entries (comments, blanks, damage) are skipped, as ssh does. */
export function parseKnownHosts(text: string): readonly HostKeyLine[] {
  return text.split('\n').flatMap((raw) => {
    const match = LINE.exec(raw.trim())
    if (match === null || raw.trim().startsWith('#')) return []
    const marker = (match[1] ?? null) as HostKeyLine['marker']
    return [{ marker, hosts: match[2]!, type: match[3]!, blob: Buffer.from(match[4]!, 'base64') }]
  })
}

/** How a host is spelt in known_hosts: bare on port 22, otherwise `[host]:port`. */
export const knownHostName = (host: string, port: number): string => (port === 22 ? host : `[${host}]:${port}`)

export function lineNamesHost(line: HostKeyLine, host: string, port: number): boolean {
  const name = knownHostName(host, port)
  if (line.hosts.startsWith('|1|')) return hashedNameMatches(line.hosts, name)
  let named = false
  for (const pattern of line.hosts.split(',')) {
    if (pattern.startsWith('!') && globMatches(pattern.slice(1), name)) return false
    if (globMatches(pattern, name)) named = true
  }
  return named
}

function hashedNameMatches(hosts: string, name: string): boolean {
  const [, , salt, hash] = hosts.split('|')
  if (salt === undefined || hash === undefined) return false
  const expected = Buffer.from(hash, 'base64')
  const got = createHmac('sha1', Buffer.from(salt, 'base64')).update(name).digest()
  return expected.length === got.length && timingSafeEqual(expected, got)
}

/** `*` and `?`, case-insensitive; matched step by step, so that no pattern can take exponential time. */
function globMatches(pattern: string, name: string): boolean {
  const wanted = pattern.toLowerCase()
  const text = name.toLowerCase()
  let reachable = new Set([0])
  for (const letter of wanted) {
    const next = new Set<number>()
    for (const at of reachable) {
      if (letter === '*') for (let to = at; to <= text.length; to++) next.add(to)
      else if (at < text.length && (letter === '?' || text[at] === letter)) next.add(at + 1)
    }
    reachable = next
  }
  return reachable.has(text.length)
}

/** As ssh prints it: SHA-256 of the key, base64 without padding. */
export const fingerprintOf = (blob: Uint8Array): string =>
  `SHA256:${createHash('sha256').update(blob).digest('base64').replace(/=+$/, '')}`

/** The type a key names in its own first field, or null for what is not a key. */
export function keyTypeOf(blob: Buffer): string | null {
  if (blob.length < 4) return null
  const length = blob.readUInt32BE(0)
  if (length < 1 || length > 64 || blob.length < 4 + length) return null
  const type = blob.toString('latin1', 4, 4 + length)
  return /^[a-z0-9@.-]+$/.test(type) ? type : null
}

/** `note`: a word behind it, for people and for us. */
export const knownHostsLine = (host: string, port: number, type: string, blob: Buffer, note = ''): string =>
  `${knownHostName(host, port)} ${type} ${blob.toString('base64')}${note && ` ${note}`}\n`

const MOST_KNOWN_BYTES = 16 * 1024 * 1024
/** A file that we add to stays smaller: it is read at every login, by the thread that stamps what boxes say. */
const MOST_OWN_BYTES = 4 * 1024 * 1024

/**
 * Many people name /dev/null, and a pipe would hold us up for ever: what is no file has no lines. One that cannot be read
 * is a fault, and so is a link that leads nowhere: a host that is known there is no new one (attack 283).
 */
function readKnown(path: string): string {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (!stats && lstatSync(path, { throwIfNoEntry: false })) throw new Error(`${path} is a link that leads nowhere`)
  if (!stats?.isFile()) return ''
  const read = readRegularFile(path, MOST_KNOWN_BYTES)
  if (typeof read === 'number') throw new Error(`${path} is too large`)
  return Buffer.from(read).toString('utf8')
}

/** Lines of all these files that name the host; a file that is not there has none. */
export async function readKnownHosts(
  paths: readonly string[],
  { host, port }: { readonly host: string; readonly port: number },
): Promise<readonly HostKeyLine[]> {
  const name = knownHostName(host, port).toLowerCase()
  // Of thousands of lines nearly all name another, in plain letters.
  const mayName = (raw: string) => /[|*?]/.test(raw) || raw.toLowerCase().includes(name)
  const lines = paths.map(readKnown).flatMap((text) => text.split('\n').filter(mayName))
  return parseKnownHosts(lines.join('\n')).filter((line) => lineNamesHost(line, host, port))
}

/** Adds a line at the end of the file, in one go: of a whole cohort met at once none must write over another (attack 139). */
export function rememberHostKey(path: string, line: string): void {
  const text = `${wholeLines(readKnown(path))}${line}`
  // Those that are known are read all the same (attack 482).
  if (text.length > MOST_OWN_BYTES) throw fault('KNOWN_HOSTS_FULL', { path })
  writeAside(path, text, { mode: 0o600 })
}

/** The note behind keys of boxes that are no person's choice. */
export const OF_FLEET = 'touchstone-fleet'

/** Takes out what a fleet has learnt of hosts that are at none of these addresses. */
export function forgetHosts(path: string, addresses: readonly string[]): void {
  const kept = new Set<string | undefined>()
  for (const address of addresses.filter((one) => one.startsWith('ssh://'))) {
    const { host, port } = parseSshAddress(address, 'anybody')
    kept.add(knownHostName(host, port))
  }
  const isKept = (raw: string) => !raw.endsWith(` ${OF_FLEET}`) || kept.has(raw.split(' ', 1)[0])
  writeAside(path, readKnown(path).split('\n').filter(isKept).join('\n'), { mode: 0o600 })
}

export type HostKeyJudgement =
  | { readonly kind: 'trusted'; readonly fingerprint: string; readonly by: 'pin' | 'known_hosts' }
  | { readonly kind: 'new'; readonly fingerprint: string; readonly type: string }
  | { readonly kind: 'changed'; readonly fingerprint: string; readonly expected: readonly string[] }
  | { readonly kind: 'revoked'; readonly fingerprint: string }

/**
 * `known`: the lines that name this host. With a pin (`--host-key SHA256:…`) nothing else counts but that a key is revoked.
 * Attack 14: any key but the one we know for this host is refused, also one of another type: whoever sits in between
 * could always offer a type that we have not seen yet.
 */
export function judgeHostKey(blob: Buffer, known: readonly HostKeyLine[], pin: string | null): HostKeyJudgement {
  const fingerprint = fingerprintOf(blob)
  if (known.some((line) => line.marker === 'revoked' && line.blob.equals(blob))) return { kind: 'revoked', fingerprint }
  if (pin === fingerprint) return { kind: 'trusted', fingerprint, by: 'pin' }
  if (pin !== null) return { kind: 'changed', fingerprint, expected: [pin] }
  const plain = known.filter(({ marker }) => marker === null)
  if (plain.some((line) => line.blob.equals(blob))) return { kind: 'trusted', fingerprint, by: 'known_hosts' }
  if (plain.length > 0) return { kind: 'changed', fingerprint, expected: plain.map((line) => fingerprintOf(line.blob)) }
  return { kind: 'new', fingerprint, type: keyTypeOf(blob) ?? 'unknown' }
}
