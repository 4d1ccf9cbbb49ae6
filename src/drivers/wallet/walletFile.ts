import { createCipheriv, createDecipheriv, scrypt } from 'node:crypto'
import { statSync } from 'node:fs'
import { promisify } from 'node:util'
import * as z from 'zod'
import { decodeJson } from '../../core/bytes/decodeJson.ts'
import { fromHex, toHex } from '../../core/bytes/hex.ts'
import type { Randomness } from '../../ports/randomness.ts'
import { codeOf } from '../system/codeOf.ts'
import { readRegularFile } from '../system/readRegularFile.ts'
import { writeAside, writeOnce } from '../system/writeAside.ts'
import { fault } from './faults.ts'

const hexOf = (bytes: number) => z.string().regex(new RegExp(`^[0-9a-f]{${2 * bytes}}$`))

/** What it takes to try one password: 128 MiB and about half a second. A file that asks for far more, or less, is none of ours. */
const COST = { n: 2 ** 17, r: 8, p: 1 } as const
type Cost = Pick<WalletFile['kdf'], 'n' | 'r' | 'p'>

/** WL1. `account` is what anybody may see; the secret is sealed. */
const walletFile = z.strictObject({
  format: z.literal('touchstone-wallet-1'),
  kind: z.enum(['touchstone', 'evm']),
  account: z.string().regex(/^(0x[0-9a-f]{40}|[0-9a-f]{64})$/),
  kdf: z.strictObject({
    name: z.literal('scrypt'),
    salt: hexOf(32),
    n: z
      .int()
      .min(2 ** 10)
      .max(2 ** 18)
      .refine((n) => Number.isInteger(Math.log2(n))),
    r: z.literal(8),
    p: z.literal(1),
  }),
  cipher: z.strictObject({ name: z.literal('chacha20-poly1305'), nonce: hexOf(12), sealed: hexOf(48) }),
})
type WalletFile = z.infer<typeof walletFile>

/** What a wallet is, without its password. */
export type WalletFacts = Pick<WalletFile, 'kind' | 'account'>

const MOST_BYTES = 4096
const TAG_BYTES = 16
const derive = promisify<string, Uint8Array, number, object, Buffer>(scrypt)

const keyFrom = (password: string, salt: string, { n, r, p }: Cost): Promise<Buffer> =>
  derive(password.normalize('NFKC'), fromHex(salt, 32)!, 32, { N: n, r, p, maxmem: 256 * n * r })

/** Bound to the secret: what stands beside it cannot be changed. */
const boundTo = ({ kind, account }: WalletFacts): Buffer => Buffer.from(`touchstone-wallet-1/${kind}/${account}`)

interface Sealing {
  readonly randomness: Randomness
  /** Less for tests alone. */
  readonly cost?: Cost
}

async function seal(facts: WalletFacts, secret: Uint8Array, password: string, { randomness, cost = COST }: Sealing) {
  const salt = toHex(randomness.bytes(32))
  const nonce = randomness.bytes(12)
  const cipher = createCipheriv('chacha20-poly1305', await keyFrom(password, salt, cost), nonce, {
    authTagLength: TAG_BYTES,
  })
  cipher.setAAD(boundTo(facts), { plaintextLength: secret.length })
  const sealed = Buffer.concat([cipher.update(secret), cipher.final(), cipher.getAuthTag()])
  const file: WalletFile = {
    format: 'touchstone-wallet-1',
    ...facts,
    kdf: { name: 'scrypt', salt, ...cost },
    cipher: { name: 'chacha20-poly1305', nonce: toHex(nonce), sealed: toHex(sealed) },
  }
  return `${JSON.stringify(file, null, 2)}\n`
}

/** Writes a new wallet, readable by its owner alone; one that is there is never touched. */
export async function createWallet(
  path: string,
  { secret, password, ...facts }: WalletFacts & { readonly secret: Uint8Array; readonly password: string },
  sealing: Sealing,
): Promise<void> {
  if (statSync(path, { throwIfNoEntry: false })) throw fault('WALLET_EXISTS', { path })
  if (!writeOnce(path, await seal(facts, secret, password, sealing), { mode: 0o600 }))
    throw fault('WALLET_EXISTS', { path })
}

/** What anybody who can read the file may know of it. */
export function readWallet(path: string): WalletFacts {
  const { kind, account } = readFile(path)
  return { kind, account }
}

/** The secret of a wallet. Whoever takes it forgets it when it has been used. */
export async function openWallet(
  path: string,
  password: string,
): Promise<WalletFacts & { readonly secret: Uint8Array }> {
  const { kind, account, kdf, cipher } = readFile(path)
  const sealed = fromHex(cipher.sealed, 48)!
  const key = await keyFrom(password, kdf.salt, kdf)
  const decipher = createDecipheriv('chacha20-poly1305', key, fromHex(cipher.nonce, 12)!, { authTagLength: TAG_BYTES })
  decipher.setAAD(boundTo({ kind, account }), { plaintextLength: 32 })
  decipher.setAuthTag(sealed.subarray(32))
  try {
    const secret = new Uint8Array(Buffer.concat([decipher.update(sealed.subarray(0, 32)), decipher.final()]))
    return { kind, account, secret }
  } catch (cause) {
    throw fault('WRONG_PASSWORD', { path }, cause)
  }
}

/** Seals the same secret with another password. The file is the old one or the new one, never something in between. */
export async function changePassword(path: string, before: string, after: string, sealing: Sealing): Promise<void> {
  const { secret, ...facts } = await openWallet(path, before)
  writeAside(path, await seal(facts, secret, after, sealing), { mode: 0o600, flush: true })
}

function readFile(path: string): WalletFile {
  const damaged = (why: string, cause?: unknown) => fault('WALLET_DAMAGED', { path, why }, cause)
  let bytes: Uint8Array | number
  try {
    bytes = readRegularFile(path, MOST_BYTES)
  } catch (cause) {
    throw codeOf(cause) === 'ENOENT'
      ? fault('WALLET_MISSING', { path }, cause)
      : damaged(codeOf(cause) || 'no file', cause)
  }
  // Windows has no such bits.
  if (process.platform !== 'win32' && (statSync(path).mode & 0o077) !== 0) throw fault('WALLET_EXPOSED', { path })
  if (typeof bytes === 'number') throw damaged('too large')
  try {
    return decodeJson(bytes, walletFile, 'wallet')
  } catch (cause) {
    throw damaged('of another form', cause)
  }
}
