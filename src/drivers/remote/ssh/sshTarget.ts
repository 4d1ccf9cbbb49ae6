import { isIP } from 'node:net'
import type { TouchstoneError } from '../../../ports/errors.ts'
import { fault } from '../faults.ts'

/** What somebody typed or pasted, before their own SSH settings were asked. */
export interface SshTarget {
  /** A name, an address, or an alias of `~/.ssh/config`. */
  readonly host: string
  readonly user?: string
  readonly port?: number
  readonly identities?: readonly string[]
  /** As after `-J`. */
  readonly jump?: string
  /** What ssh alone can read: `-F`, `-o`, `-4` and `-6`. */
  readonly settings?: readonly string[]
  /** All of it for `ssh -G`, in its own order: where ssh is installed, nothing but its answer counts. */
  readonly words: readonly string[]
}

const USER = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$/
/** An alias may hold an underscore; a name that is looked up may not, and then nobody finds it. */
const NAME = /^(?=.{1,253}$)[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9])?(\.[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9])?)*$/
const FORM = /^(?:([^@/]*)@)?(\[[^\]/]*\]|[^:/@]*)(?::([0-9]{1,5}))?\/?$/

/** `ssh://user@host:port`, `user@host:2222`, `host`, an IPv6 address, or a command such as `ssh -p 2222 root@host`. */
export function parseSshTarget(text: string): SshTarget {
  if (/^ssh[ \t]/.test(text))
    return parsePasted(
      text
        .trim()
        .split(/[ \t]+/)
        .slice(1),
      text,
    )
  const place = parsePlace(text, text)
  const { host, user, port } = place
  const words = [...(user === undefined ? [] : ['-l', user]), ...(port === undefined ? [] : ['-p', String(port)]), host]
  return { ...place, words }
}

function parsePlace(place: string, text: string): Pick<SshTarget, 'host' | 'user' | 'port'> {
  const rest = place.startsWith('ssh://') ? place.slice('ssh://'.length) : place
  const bare = /^(?:([^@]*)@)?([0-9a-fA-F:.]+)$/.exec(rest)
  const match = bare && isIP(bare[2]!) === 6 ? [rest, bare[1], `[${bare[2]}]`, undefined] : FORM.exec(rest)
  if (match === null) throw badAddress(text, 'it is not of the form user@host:port')
  const [, user, host = '', digits] = match
  if (user?.includes(':')) throw badAddress('…', 'it carries a password, which other users of this machine could read')
  if (user !== undefined && !USER.test(user)) throw badAddress(text, 'the user name is missing or odd')
  const inside = host.startsWith('[') ? host.slice(1, -1) : host
  const good = host.startsWith('[') ? isIP(inside) === 6 : NAME.test(host)
  if (!good) throw badAddress(text, 'the host is neither a name nor an address')
  return { host: inside, ...(user === undefined ? {} : { user }), ...portOf(digits, text) }
}

function portOf(digits: string | undefined, text: string): { readonly port?: number } {
  if (digits === undefined) return {}
  const port = Number(digits)
  if (!/^[0-9]{1,5}$/.test(digits) || port < 1 || port > 65_535)
    throw badAddress(text, 'the port is not between 1 and 65535')
  return { port }
}

/** What no shell reads, so that a text has the words that ssh would get. */
const PLAIN = /^[A-Za-z0-9_@=:,./~+[\]-]+$/
/** Letters may stand together, the last with its value: where it leads, as whom, and what changes neither (tunnels, for example). */
const OPTION = /^-(?=.)([46AaCfkNnqTtvXxY]*)(?:([DFJLRilop])(.*))?$/
/** After `-o`. Each of them is obeyed as `ssh -G` tells it, or changes neither where ssh leads nor as whom. */
const SETTINGS = new Set(
  `addressfamily globalknownhostsfile hostkeyalias identitiesonly identityagent identityfile stricthostkeychecking
  userknownhostsfile batchmode checkhostip compression connectionattempts connecttimeout exitonforwardfailure forwardagent
  hashknownhosts loglevel passwordauthentication preferredauthentications pubkeyauthentication requesttty
  serveralivecountmax serveraliveinterval tcpkeepalive`.split(/\s+/),
)

/** The command that a marketplace shows, which is the seller's: what could lead ssh elsewhere than us is refused (attack 315). */
function parsePasted(words: readonly string[], text: string): SshTarget {
  if (!words.every((word) => PLAIN.test(word)))
    throw badAddress(text, 'a word of the command holds a blank, a quote or another sign that a shell reads')
  const { places, values, settings } = readWords(words, text)
  const [place = '', ...more] = places
  if (more.length > 0) throw badAddress(text, 'there is a second host or a command after the host')
  const { host, user, port } = parsePlace(place, text)
  if (!place.startsWith('ssh://') && (port !== undefined || place.includes('[')))
    throw badAddress(text, 'in a command a port is written as -p 2222')
  const once = (what: string, letter: string, beside?: string): string | undefined => {
    const said = [...(values.get(letter) ?? []), ...(beside === undefined ? [] : [beside])]
    if (said.length > 1) throw badAddress(text, `${what} is given twice`)
    return said[0]
  }
  const [login, digits, jump] = [
    once('the user', 'l', user),
    once('the port', 'p', port?.toString()),
    once('the jump', 'J'),
    once('the settings file', 'F'),
  ]
  if (login !== undefined && !USER.test(login)) throw badAddress(text, 'the user name is missing or odd')
  return {
    ...{ host, words },
    ...(login === undefined ? {} : { user: login }),
    ...portOf(digits, text),
    ...(values.has('i') ? { identities: values.get('i')! } : {}),
    ...(jump === undefined ? {} : { jump }),
    ...(settings.length === 0 ? {} : { settings }),
  }
}

/** As ssh reads them. */
function readWords(words: readonly string[], text: string) {
  const places: string[] = []
  const settings: string[] = []
  const values = new Map<string, string[]>()
  for (let i = 0; i < words.length; i++) {
    const word = words[i]!
    if (!word.startsWith('-')) {
      places.push(word)
      continue
    }
    const match = OPTION.exec(word)
    if (match === null) throw badAddress(text, `${word} is not supported: leave it out`)
    const [, flags = '', letter, rest] = match
    settings.push(...(flags.match(/[46]/g) ?? []).map((family) => `-${family}`))
    if (letter === undefined) continue
    const value = rest || words[++i]
    if (value === undefined) throw badAddress(text, `${word} says nothing`)
    values.set(letter, [...(values.get(letter) ?? []), value])
    if (letter === 'o' && !SETTINGS.has(/^[a-z]+(?==.)/i.exec(value)?.[0].toLowerCase() ?? ''))
      throw badAddress(text, `-o ${value} is not supported: leave it out`)
    if (letter === 'F' || letter === 'o') settings.push(`-${letter}`, value)
  }
  return { places, values, settings }
}

export function badAddress(text: string, why: string): TouchstoneError {
  return fault('BAD_ADDRESS', { why, text: JSON.stringify(text.slice(0, 200)) })
}

/**
 * A pasted command without quotes: `verify ssh -p 2222 root@host --claim …` has the words of ssh up to the next of ours,
 * which begins with two dashes. They become one. A word that would not be the same one in it is put in quotes, which no
 * command may have.
 */
export function joinPasted(words: readonly string[]): string[] {
  const from = words.indexOf('ssh')
  if (from < 0) return [...words]
  const next = words.findIndex((word, i) => i > from && word.startsWith('--'))
  const to = next < 0 ? words.length : next
  if (to - from < 2 || words[from - 1]?.startsWith('--')) return [...words]
  const pasted = words.slice(from, to).map((word) => (PLAIN.test(word) ? word : JSON.stringify(word)))
  return [...words.slice(0, from), pasted.join(' '), ...words.slice(to)]
}
