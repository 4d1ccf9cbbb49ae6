import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fromHex } from '../../core/bytes/hex.ts'
import { type AccountKeys, accountKeys, devnetSecret } from '../../core/chain/accountKeys.ts'
import type { Vrf } from '../../core/chain/ecvrf.ts'
import { nativeSigner } from '../../drivers/system/nativeSigner.ts'
import { readRegularFile } from '../../drivers/system/readRegularFile.ts'
import { writeAside } from '../../drivers/system/writeAside.ts'
import { fault } from '../faults.ts'

const MOST_KEY_BYTES = 1_024

/** Which account a folder uses unless one is named: the first of a devnet where the chain began in it, else none. */
export function usualAccount(data: string, isNew: boolean): string {
  const path = join(data, 'account')
  if (isNew) writeAside(path, 'devnet:0\n')
  return existsSync(path) ? readFileSync(path, 'utf8').trim() : 'none'
}

/** The keys of an account: `none`, `devnet:3` for one that everybody knows, or a file with its secret. */
export function readAccount(name: string, vrf: Vrf): AccountKeys | null {
  if (name === 'none') return null
  const [, index] = /^devnet:(\d{1,4})$/.exec(name) ?? []
  return accountKeys(index === undefined ? readSecret(name) : devnetSecret(Number(index)), vrf, nativeSigner)
}

function readSecret(path: string): Uint8Array {
  let secret: Uint8Array | null = null
  try {
    const read = readRegularFile(path, MOST_KEY_BYTES)
    if (typeof read !== 'number') secret = fromHex(Buffer.from(read).toString('latin1').trim(), 32)
  } catch (error) {
    throw fault('NODE_KEY_UNREADABLE', { path }, error)
  }
  if (secret === null) throw fault('NODE_KEY_UNREADABLE', { path })
  return secret
}
