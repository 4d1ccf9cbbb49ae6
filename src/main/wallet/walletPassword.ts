import { askHidden } from '../../drivers/system/askHidden.ts'
import { readRegularFile } from '../../drivers/system/readRegularFile.ts'
import { fault } from '../faults.ts'

export interface PasswordFlags {
  readonly passwordFile?: string
}

export const PASSWORD_OPTION = [
  '--password-file <file>',
  'file whose first line is the password (else: asked for)',
] as const

/** Whoever names a password takes the key for a sealed one, which it is not. */
export function refusePassword({ passwordFile }: PasswordFlags, path: string): void {
  if (passwordFile !== undefined) throw fault('NOT_SEALED', { path })
}

const LEAST = 8
const MOST_BYTES = 4096

type Ask = (question: string) => Promise<string | null>

/** The password of a wallet: from a file, from TOUCHSTONE_WALLET_PASSWORD, or from whoever sits at the terminal. */
export async function readPassword(flags: PasswordFlags, env: NodeJS.ProcessEnv, signal: AbortSignal): Promise<string> {
  const given = givenPassword(flags, env)
  return given ?? (await asked('password of the wallet: ', terminal(signal)))
}

/** A password for a new wallet: long enough, and typed twice. */
export async function choosePassword(
  flags: PasswordFlags,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<string> {
  const given = givenPassword(flags, env)
  const ask = given === null ? terminal(signal) : null
  const password = given ?? (await asked('a new password for the wallet: ', ask!))
  if ([...password].length < LEAST) throw fault('PASSWORD_TOO_SHORT', { least: LEAST })
  if (ask !== null && (await asked('the same again: ', ask)) !== password) throw fault('PASSWORD_MISTYPED')
  return password
}

async function asked(question: string, ask: Ask): Promise<string> {
  const answer = await ask(question)
  if (answer === null) throw fault('NO_PASSWORD')
  return answer
}

function givenPassword({ passwordFile }: PasswordFlags, env: NodeJS.ProcessEnv): string | null {
  if (passwordFile === undefined) return env.TOUCHSTONE_WALLET_PASSWORD || null
  let read: Uint8Array | number
  try {
    read = readRegularFile(passwordFile, MOST_BYTES)
  } catch (cause) {
    throw fault('PASSWORD_FILE', { path: passwordFile }, cause)
  }
  const [line = ''] = typeof read === 'number' ? [] : Buffer.from(read).toString('utf8').split(/\r?\n/)
  if (line === '') throw fault('PASSWORD_FILE', { path: passwordFile })
  return line
}

function terminal(signal: AbortSignal): Ask {
  const [input, output] = [process.stdin, process.stderr]
  if (!input.isTTY || !output.isTTY) throw fault('NO_PASSWORD')
  return (question) => askHidden({ input, output }, question, signal)
}
