import { isIP } from 'node:net'
import type { TouchstoneError } from '../../../ports/errors.ts'
import { fault } from '../faults.ts'

/** What somebody typed or pasted, before their own SSH settings were asked. */
export interface SshTarget {
  /** A name, an address, or an alias of `~/.ssh/config`. */
  readonly host: string
  readonly user?: string
  readonly port?: number
  readonly identity?: string
  /** As after `-J`. */
  readonly jump?: string
  /** For `ssh -G`: a settings file and settings, as they were written. */
  readonly settings?: readonly string[]
}

const USER = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$/
/** An alias may hold an underscore; a name that is looked up may not, and then nobody finds it. */
const NAME = /^(?=.{1,253}$)[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9])?(\.[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9])?)*$/
const FORM = /^(?:([^@/]*)@)?(\[[^\]/]*\]|[^:/@]*)(?::([0-9]{1,5}))?\/?$/

/** `ssh://user@host:port`, `user@host:2222`, `host`, an IPv6 address, or a command such as `ssh -p 2222 root@host`. */
export function parseSshTarget(text: string): SshTarget {
  if (/^ssh\s/.test(text)) return parsePasted(text.split(/\s+/).slice(1), text)
  return parsePlace(text, text)
}

function parsePlace(place: string, text: string): SshTarget {
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

/** Options of ssh that take a value. Those that mean nothing to us (tunnels, for example) are passed over. */
const VALUED = 'BbcDEeFIiJLlmOoPpQRSWw'

/** The command that a marketplace shows: ours are where it leads and as whom; its tunnels are not. */
function parsePasted(words: readonly string[], text: string): SshTarget {
  const { places, values } = readOptions(words, text)
  const twice = ['l', 'p', 'J'].find((letter) => (values.get(letter)?.length ?? 0) > 1)
  if (twice !== undefined) throw badAddress(text, `it has -${twice} more than once`)
  const last = (letter: string) => values.get(letter)?.at(-1)
  const [user, identity, jump] = ['l', 'i', 'J'].map(last)
  if (user !== undefined && !USER.test(user)) throw badAddress(text, 'the user name is missing or odd')
  const settings = [...all(values, 'F'), ...all(values, 'o')]
  return {
    ...parsePlace(places[0] ?? '', text),
    ...(user === undefined ? {} : { user }),
    ...portOf(last('p'), text),
    ...(identity === undefined ? {} : { identity }),
    ...(jump === undefined ? {} : { jump }),
    ...(settings.length === 0 ? {} : { settings }),
  }
}

/** As ssh reads them: letters may stand together, and after a second word comes a command to run there. */
function readOptions(words: readonly string[], text: string) {
  const values = new Map<string, string[]>()
  const places: string[] = []
  for (let i = 0; i < words.length && places.length < 2; i++) {
    const word = words[i]!
    if (!word.startsWith('-')) {
      places.push(word)
      continue
    }
    const at = [...word].findIndex((letter, place) => place > 0 && VALUED.includes(letter))
    if (at < 0) continue
    const value = word.slice(at + 1) || words[++i]
    if (value === undefined) throw badAddress(text, `${word} says nothing`)
    values.set(word[at]!, [...(values.get(word[at]!) ?? []), value])
  }
  return { places, values }
}

const all = (values: ReadonlyMap<string, readonly string[]>, letter: string): string[] =>
  (values.get(letter) ?? []).flatMap((value) => [`-${letter}`, value])

export function badAddress(text: string, why: string): TouchstoneError {
  return fault('BAD_ADDRESS', { why, text: JSON.stringify(text.slice(0, 200)) })
}

/**
 * A pasted command without quotes: `verify ssh -p 2222 root@host --claim …` has the words of ssh up to the next of ours,
 * which begins with two dashes. They become one.
 */
export function joinPasted(words: readonly string[]): string[] {
  const from = words.indexOf('ssh')
  if (from < 0) return [...words]
  const next = words.findIndex((word, i) => i > from && word.startsWith('--'))
  const to = next < 0 ? words.length : next
  if (to - from < 2 || words[from - 1]?.startsWith('--')) return [...words]
  return [...words.slice(0, from), words.slice(from, to).join(' '), ...words.slice(to)]
}
