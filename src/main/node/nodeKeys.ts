import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fromHex } from '../../core/bytes/hex.ts'
import { type AccountKeys, accountKeys, devnetSecret } from '../../core/chain/accountKeys.ts'
import type { Vrf } from '../../core/chain/ecvrf.ts'
import { loadSecret } from '../../drivers/system/loadSigner.ts'
import { nativeSigner } from '../../drivers/system/nativeSigner.ts'
import { readRegularFile } from '../../drivers/system/readRegularFile.ts'
import { writeAside } from '../../drivers/system/writeAside.ts'
import { openWallet } from '../../drivers/wallet/walletFile.ts'
import { DEVNET_ACCOUNT } from '../chain/nodeOption.ts'
import { fault } from '../faults.ts'
import { system } from '../system.ts'
import { type PasswordFlags, readPassword, refusePassword } from '../wallet/walletPassword.ts'

const MOST_KEY_BYTES = 4_096

/**
 * Which account a folder uses unless one is named: the first of a devnet where the chain began in it, one of its own where
 * it drills, else none.
 */
export function usualAccount(data: string, isNew: boolean, isDrilling: boolean): string {
  const path = join(data, 'account')
  if (isNew) writeAside(path, 'devnet:0\n')
  if (existsSync(path)) return readFileSync(path, 'utf8').trim()
  if (!isDrilling) return 'none'
  loadSecret(data, 'driller', system.randomness)
  return join(data, 'driller.key')
}

/** The keys of an account: `none`, `devnet:3` for one that everybody knows, or a file: a wallet, or the secret itself. */
export async function readAccount(
  name: string,
  vrf: Vrf,
  password: PasswordFlags,
  unlock: (path: string) => Promise<Uint8Array>,
): Promise<AccountKeys | null> {
  const [, index] = DEVNET_ACCOUNT.exec(name) ?? []
  if (name === 'none' || index !== undefined) refusePassword(password, name)
  if (name === 'none') return null
  const secret = index === undefined ? await readSecret(name, password, unlock) : devnetSecret(Number(index))
  return accountKeys(secret, vrf, nativeSigner)
}

async function readSecret(
  path: string,
  password: PasswordFlags,
  unlock: (path: string) => Promise<Uint8Array>,
): Promise<Uint8Array> {
  let text: string
  try {
    const read = readRegularFile(path, MOST_KEY_BYTES)
    text = typeof read === 'number' ? '' : Buffer.from(read).toString('latin1').trim()
  } catch (error) {
    throw fault('NODE_KEY_UNREADABLE', { path }, error)
  }
  if (text.startsWith('{')) return await unlock(path)
  refusePassword(password, path)
  const secret = fromHex(text, 32)
  if (secret === null) throw fault('NODE_KEY_UNREADABLE', { path })
  return secret
}

/** The secret in a wallet of our chain. */
export async function unlockWallet(
  path: string,
  flags: PasswordFlags,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const { kind, secret } = await openWallet(path, await readPassword(flags, env, signal))
  if (kind !== 'touchstone') throw fault('OTHER_KIND_OF_WALLET', { name: path })
  return secret
}
