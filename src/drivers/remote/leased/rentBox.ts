import { createPrivateKey } from 'node:crypto'
import ssh2 from 'ssh2'
import { readRegularFile } from '../../system/readRegularFile.ts'
import { fault } from '../faults.ts'
import { tryLogin } from '../ssh/tryLogin.ts'
import type { ProviderLine } from './askProvider.ts'
import { askForLease, giveBack, type LeaseWish } from './connectLeased.ts'
import { openSshKey } from './openSshKey.ts'

const MOST_KEY_BYTES = 16 * 1024

/** The private key in a file as one to rent with: what a provider tells is sealed to it, so it must be Ed25519 and bare. */
export function readLeaseKey(path: string): ReturnType<typeof openSshKey> {
  const unusable = (why: string) => fault('LEASE_KEY_UNUSABLE', { path, why })
  let bytes: Uint8Array | number
  try {
    bytes = readRegularFile(path, MOST_KEY_BYTES)
  } catch {
    throw unusable('it cannot be read')
  }
  const parsed = ssh2.utils.parseKey(typeof bytes === 'number' ? '' : Buffer.from(bytes))
  const key = Array.isArray(parsed) ? parsed[0] : parsed
  if (key === undefined || key instanceof Error) throw unusable('it holds no private key without a passphrase')
  if (!key.isPrivateKey()) throw unusable('it holds a public key')
  if (key.type !== 'ssh-ed25519') throw unusable(`it is of the type ${key.type}`)
  const { d } = createPrivateKey(key.getPrivatePEM()).export({ format: 'jwk' })
  return openSshKey(new Uint8Array(Buffer.from(d!, 'base64url')))
}

/** Takes a lease to rent the box and logs in once, so that what is handed on works; otherwise it is given back. */
export async function rentBox(
  line: ProviderLine,
  wish: LeaseWish,
  lease: { readonly id: string; readonly key: ReturnType<typeof openSshKey> },
  signal: AbortSignal,
) {
  try {
    const { details, way, untilMs } = await askForLease(line, wish, lease, signal)
    const login = { privateKey: lease.key.privateKey, hostKey: details.hostKey, ...way }
    return { details, untilMs, hostKeyLine: await tryLogin(details, login, signal) }
  } catch (error) {
    await giveBack(line, lease.id, wish).catch(() => {})
    throw error
  }
}
