import { join } from 'node:path'
import type { Signer } from '../../core/bytes/ed25519.ts'
import { fromHex, toHex } from '../../core/bytes/hex.ts'
import type { Randomness } from '../../ports/randomness.ts'
import { fault } from './faults.ts'
import { nativeSigner } from './nativeSigner.ts'
import { readRegularFile } from './readRegularFile.ts'
import { writeOnce } from './writeAside.ts'

/** The signer kept in `<home>/<name>.key`, made at first use, readable by its owner alone. */
export const loadSigner = (home: string, name: string, randomness: Randomness): Signer =>
  nativeSigner(loadSecret(home, name, randomness))

/** The 32 bytes kept in `<home>/<name>.key`, in the same way. */
export function loadSecret(home: string, name: string, randomness: Randomness): Uint8Array {
  const path = join(home, `${name}.key`)
  const kept = readKey(path)
  if (kept) return kept
  // Of two programs that start together one key wins, and both read that one.
  writeOnce(path, `${toHex(randomness.bytes(32))}\n`, { mode: 0o600 })
  const made = readKey(path)
  if (!made) throw badKey(path)
  return made
}

const MOST_BYTES = 1024

function readKey(path: string): Uint8Array | null {
  let read: Uint8Array | number
  try {
    read = readRegularFile(path, MOST_BYTES)
  } catch {
    return null
  }
  const secret = typeof read === 'number' ? null : fromHex(Buffer.from(read).toString('latin1').trim(), 32)
  if (!secret) throw badKey(path)
  return secret
}

const badKey = (path: string) => fault('BAD_KEY_FILE', { path })
