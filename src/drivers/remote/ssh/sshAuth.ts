import { readFile } from 'node:fs/promises'
import type { AnyAuthMethod, ParsedKey } from 'ssh2'
import ssh2 from 'ssh2'
import { fault } from '../faults.ts'

/** Ways to prove who we are, tried in this order. */
export interface SshAuth {
  /** Socket of a running agent, usually `SSH_AUTH_SOCK`. */
  readonly agent?: string
  readonly keyFiles?: readonly { readonly path: string; readonly passphrase?: string; readonly optional?: boolean }[]
  /** A private key made for one lease, never on disk. */
  readonly privateKey?: string
  readonly password?: string
}

export type AuthPlan = Awaited<ReturnType<typeof planAuth>>

export async function planAuth(username: string, auth: SshAuth) {
  const steps: { readonly method: AnyAuthMethod; readonly name: string }[] = []
  const addKey = (key: ParsedKey, name: string) => steps.push({ method: { type: 'publickey', username, key }, name })
  if (auth.privateKey !== undefined) addKey(parseKey('in memory', auth.privateKey), 'the key of the lease')
  if (auth.agent !== undefined)
    steps.push({ method: { type: 'agent', username, agent: auth.agent }, name: 'the agent' })
  for (const file of auth.keyFiles ?? []) {
    const key = await readKey(file)
    if (key !== null) addKey(key, file.path)
  }
  for (const method of auth.password === undefined ? [] : passwordMethods(username, auth.password))
    steps.push({ method, name: 'the password' })
  // The names are for the reader of a refusal.
  return { methods: steps.map((step) => step.method), names: [...new Set(steps.map((step) => step.name))] }
}

const passwordMethods = (username: string, password: string): AnyAuthMethod[] => [
  { type: 'password', username, password },
  {
    type: 'keyboard-interactive',
    username,
    // One hidden question is the password asked in another way; anything else we cannot answer.
    prompt: (_name, _instructions, _lang, prompts, finish) =>
      finish(prompts.length === 1 && prompts[0]!.echo !== true ? [password] : []),
  },
]

async function readKey(file: NonNullable<SshAuth['keyFiles']>[number]): Promise<ParsedKey | null> {
  try {
    return parseKey(file.path, await readFile(file.path, 'utf8'), file.passphrase)
  } catch (error) {
    // Default identities that are missing, or locked by a passphrase nobody gave, are passed over as ssh does.
    if (file.optional === true) return null
    if ((error as NodeJS.ErrnoException).code === undefined) throw error
    throw fault('SSH_KEY_UNREADABLE', { path: file.path, why: (error as Error).message })
  }
}

function parseKey(path: string, text: string, passphrase?: string): ParsedKey {
  const parsed = ssh2.utils.parseKey(text, passphrase)
  const key = Array.isArray(parsed) ? (parsed[0] as ParsedKey) : parsed
  if (key instanceof Error) throw fault('SSH_KEY_UNREADABLE', { path, why: key.message })
  if (!key.isPrivateKey()) throw fault('SSH_KEY_UNREADABLE', { path, why: 'it holds a public key' })
  return key
}
