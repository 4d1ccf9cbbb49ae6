import type { AnyAuthMethod, ParsedKey } from 'ssh2'
import ssh2 from 'ssh2'
import { TouchstoneError } from '../../../ports/errors.ts'
import { codeOf } from '../../system/codeOf.ts'
import { readRegularFile } from '../../system/readRegularFile.ts'
import { fault } from '../faults.ts'

/** Asks whoever sits before the terminal, without showing what is typed; null where they type nothing. */
export type AskHidden = (question: string, signal: AbortSignal) => Promise<string | null>

/** Ways to prove who we are, tried in this order. */
export interface SshAuth {
  /** Socket of a running agent, usually `SSH_AUTH_SOCK`. */
  readonly agent?: string
  readonly keyFiles?: readonly { readonly path: string; readonly passphrase?: string; readonly optional?: boolean }[]
  /** A private key made for one lease, never on disk. */
  readonly privateKey?: string
  readonly password?: string
  /** Where somebody can be asked: for the passphrase of a key, and for a password if nothing else helps. */
  readonly ask?: AskHidden
}

type KeyFile = NonNullable<SshAuth['keyFiles']>[number]

export interface AuthPlan {
  /** The next way to try, given what the server still offers; null when there is none. */
  next(offered: readonly string[] | null): Promise<AnyAuthMethod | null>
  /** What was tried, for the reader of a refusal. */
  readonly names: readonly string[]
}

const MOST_QUESTIONS = 3
const MOST_KEY_BYTES = 64 * 1024

/** Keys are read at once, so that a wrong path is told before anybody is dialled; questions wait until they are needed. */
export async function planAuth(username: string, auth: SshAuth, signal: AbortSignal): Promise<AuthPlan> {
  const names: string[] = []
  const keys: { readonly file: KeyFile; readonly text: string; readonly key: ParsedKey | null }[] = []
  for (const file of auth.keyFiles ?? []) {
    const read = await readKey(file, auth.ask !== undefined)
    if (read !== null) keys.push({ file, ...read })
  }
  const named = (name: string, method: AnyAuthMethod): AnyAuthMethod => {
    if (!names.includes(name)) names.push(name)
    return method
  }
  const withKey = (key: ParsedKey, name: string) => named(name, { type: 'publickey', username, key })
  async function* ways(): AsyncGenerator<AnyAuthMethod, void, readonly string[] | null> {
    if (auth.privateKey !== undefined) yield withKey(parseKey('in memory', auth.privateKey), 'the key of the lease')
    if (auth.agent !== undefined) yield named('the agent', { type: 'agent', username, agent: auth.agent })
    for (const { file, text, key } of keys) {
      const open = key === null ? await unlock(file.path, text, auth.ask!, signal) : key
      if (open !== null) yield withKey(open, file.path)
    }
    if (auth.password !== undefined)
      for (const method of passwordMethods(username, auth.password)) yield named('the password', method)
    else if (auth.ask !== undefined) yield* askPassword(username, auth.ask, named, signal)
  }
  const left = ways()
  return { names, next: async (offered) => (await left.next(offered)).value ?? null }
}

/** Only where the server takes one: nobody should type what is not wanted. */
async function* askPassword(
  username: string,
  ask: AskHidden,
  named: (name: string, method: AnyAuthMethod) => AnyAuthMethod,
  signal: AbortSignal,
): AsyncGenerator<AnyAuthMethod, void, readonly string[] | null> {
  const question = `password of ${username}: `
  // An empty try tells what the server takes.
  const offered = yield { type: 'none', username }
  const type = ['password', 'keyboard-interactive'].findIndex((name) => offered?.includes(name))
  for (let i = 0; type >= 0 && i < MOST_QUESTIONS; i++) {
    const password = await ask(question, signal)
    if (password === null) return
    yield named('the password', passwordMethods(username, password)[type]!)
  }
}

const passwordMethods = (username: string, password: string): readonly AnyAuthMethod[] => [
  { type: 'password', username, password },
  {
    type: 'keyboard-interactive',
    username,
    // One hidden question is the password asked in another way; anything else we cannot answer.
    prompt: (_name, _instructions, _lang, prompts, finish) =>
      finish(prompts.length === 1 && prompts[0]!.echo !== true ? [password] : []),
  },
]

async function unlock(path: string, text: string, ask: AskHidden, signal: AbortSignal): Promise<ParsedKey | null> {
  for (let i = 0; i < MOST_QUESTIONS; i++) {
    const passphrase = await ask(`passphrase of ${path}: `, signal)
    if (passphrase === null) return null
    const key = parsed(text, passphrase)
    if (!(key instanceof Error)) return key
  }
  return null
}

/** A key that is null has to be unlocked. Default identities that are missing, or locked where nobody can be asked, are passed over as ssh does. */
async function readKey(
  file: KeyFile,
  canAsk: boolean,
): Promise<{ readonly text: string; readonly key: ParsedKey | null } | null> {
  try {
    const read = readRegularFile(file.path, MOST_KEY_BYTES)
    if (typeof read === 'number') throw fault('SSH_KEY_UNREADABLE', { path: file.path, why: 'it is too large' })
    const text = Buffer.from(read).toString('utf8')
    const locked = canAsk && file.passphrase === undefined && isLocked(parsed(text))
    return { text, key: locked ? null : parseKey(file.path, text, file.passphrase) }
  } catch (error) {
    if (file.optional === true) return null
    if (error instanceof TouchstoneError) throw error
    const why = codeOf(error) === 'ENOENT' ? 'there is no such file' : (error as Error).message
    throw fault('SSH_KEY_UNREADABLE', { path: file.path, why })
  }
}

const isLocked = (key: ParsedKey | Error): boolean => key instanceof Error && /passphrase/i.test(key.message)

function parsed(text: string, passphrase?: string): ParsedKey | Error {
  const found = ssh2.utils.parseKey(text, passphrase)
  return Array.isArray(found) ? (found[0] as ParsedKey) : found
}

function parseKey(path: string, text: string, passphrase?: string): ParsedKey {
  const key = parsed(text, passphrase)
  if (key instanceof Error) {
    const why = isLocked(key) && passphrase === undefined ? 'it is locked with a passphrase' : key.message
    throw fault('SSH_KEY_UNREADABLE', { path, why })
  }
  if (!key.isPrivateKey()) throw fault('SSH_KEY_UNREADABLE', { path, why: 'it holds a public key' })
  return key
}
