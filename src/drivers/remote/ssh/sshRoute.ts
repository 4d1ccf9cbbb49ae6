import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { lastWords } from '../../../core/bytes/printable.ts'
import { codeOf } from '../../system/codeOf.ts'
import { ownHome } from '../../system/xdgFolders.ts'
import { fault } from '../faults.ts'
import { formatSshAddress, parseSshAddress, type SshAddress } from './sshAddress.ts'
import { badAddress, parseSshTarget, type SshTarget } from './sshTarget.ts'

/** Where a box is and how to get there, as the user's own SSH settings have it. */
export interface SshRoute {
  readonly to: SshAddress
  /** AddressFamily; null where any will do. */
  readonly onlyIpVersion: 4 | 6 | null
  /** Empty where nothing but the usual ones is meant. */
  readonly identityFiles: readonly string[]
  /** The socket of an agent, `none`, or null where nothing is said of it. */
  readonly agent: string | null
  readonly knownHostsFiles: readonly string[]
  /** The name under which its host key is known, where that is another than its own (HostKeyAlias). */
  readonly knownAs: string | null
  /** Refuse a host key that was never seen. */
  readonly isStrict: boolean
  readonly jumps: readonly SshTarget[]
  /** As in ssh_config: a program that speaks with the server on its standard streams. */
  readonly command: string | null
}

/** Asking reads files; a setting may run a program (`Match exec`). */
const ASK_MS = 10_000
const MOST_BYTES = 1024 * 1024

/** Asks the user's own ssh what it would do (`ssh -G`), and nothing else counts; without one, what was typed is all there is. */
export async function routeOf(target: SshTarget, defaultUser: string, signal: AbortSignal): Promise<SshRoute> {
  const said = (await askSsh(target, signal)) ?? withoutSsh(target, defaultUser)
  const one = (name: string) => said.get(name)?.at(-1)
  const [user = '', host = '', port, jump = 'none'] = ['user', 'hostname', 'port', 'proxyjump'].map(one)
  const to = parseSshAddress(formatSshAddress({ user, host, port: Number(port) }))
  const command = one('proxycommand') ?? 'none'
  const files = ['userknownhostsfile', 'globalknownhostsfile'].flatMap((name) => filesIn(one(name) ?? ''))
  return {
    to,
    onlyIpVersion: IP_VERSIONS[one('addressfamily') ?? ''] ?? null,
    identityFiles: (said.get('identityfile') ?? []).map(ofHome),
    agent: one('identityagent') ?? null,
    knownHostsFiles: files.length === 0 ? defaultKnownHosts() : files,
    knownAs: one('hostkeyalias') ?? null,
    isStrict: one('stricthostkeychecking') === 'true',
    jumps: jump === 'none' ? [] : jump.split(',').map((hop) => inSameFile(parseSshTarget(hop), target)),
    command: command === 'none' || jump !== 'none' ? null : expand(command, to, target.host),
  }
}

const IP_VERSIONS: Readonly<Record<string, 4 | 6>> = { inet: 4, inet6: 6 }

/** What ssh would say that has no settings. */
function withoutSsh(target: SshTarget, defaultUser: string): ReadonlyMap<string, readonly string[]> {
  const { host, user = defaultUser, port = 22, jump, identities = [], settings = [] } = target
  if (settings.length > 0)
    throw badAddress(['ssh', ...target.words].join(' '), `no ssh is installed here to read ${settings.join(' ')}`)
  return new Map([
    ['hostname', [host]],
    ['user', [user]],
    ['port', [String(port)]],
    ['identityfile', identities],
    ['proxyjump', jump === undefined ? [] : [jump]],
  ])
}

/** Where ssh itself looks. */
export const defaultKnownHosts = (): string[] => [join(ownHome(), '.ssh', 'known_hosts'), '/etc/ssh/ssh_known_hosts']

const ofHome = (path: string): string => (path.startsWith('~/') ? join(ownHome(), path.slice(2)) : path)

/** ssh prints files side by side, without quotes: of what is there the longest name counts, blanks and all (attack 269). */
function filesIn(line: string): string[] {
  const words = line === '' ? [] : line.split(' ')
  const files: string[] = []
  for (let from = 0; from < words.length; ) {
    let to = words.length
    while (to > from + 1 && !existsSync(ofHome(words.slice(from, to).join(' ')))) to--
    files.push(ofHome(words.slice(from, to).join(' ')))
    from = to
  }
  return files
}

/** A hop is looked up in the same file. */
function inSameFile(hop: SshTarget, { settings = [] }: SshTarget): SshTarget {
  const at = settings.indexOf('-F')
  if (at < 0) return hop
  const file = settings.slice(at, at + 2)
  return { ...hop, settings: file, words: [...file, ...hop.words] }
}

/** Each of these was checked to be a plain word. */
const expand = (command: string, { host, port, user }: SshAddress, alias: string): string =>
  command.replace(/%([%hnpr])/g, (_, letter: string) => {
    const values: Readonly<Record<string, string>> = { '%': '%', h: host, n: alias, p: String(port), r: user }
    return values[letter]!
  })

/** Every setting with its values, in order; null where there is no ssh. */
async function askSsh(target: SshTarget, signal: AbortSignal): Promise<ReadonlyMap<string, string[]> | null> {
  const { error, out, said } = await run(['-G', ...target.words], signal)
  signal.throwIfAborted()
  if (codeOf(error) === 'ENOENT') return null
  if (error !== null) throw fault('SSH_SETTINGS_UNREADABLE', { host: target.host, said: lastWords(said) || 'nothing' })
  const settings = new Map<string, string[]>()
  for (const line of out.split('\n')) {
    const [, name, value] = /^(\S+) (.*)$/.exec(line.trimEnd()) ?? []
    if (name !== undefined && value !== undefined) settings.set(name, [...(settings.get(name) ?? []), value])
  }
  return settings
}

const run = (args: readonly string[], signal: AbortSignal) =>
  new Promise<{ readonly error: Error | null; readonly out: string; readonly said: string }>((resolve) => {
    const limits = { timeout: ASK_MS, killSignal: 'SIGKILL', maxBuffer: MOST_BYTES, signal } as const
    execFile('ssh', [...args], limits, (error, out, said) => resolve({ error, out, said }))
  })
