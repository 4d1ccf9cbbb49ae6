import { randomBytes } from 'node:crypto'
import { ed25519 } from '@noble/curves/ed25519.js'

const field = (content: Uint8Array | string): Buffer => {
  const bytes = Buffer.from(content)
  const head = Buffer.alloc(4)
  head.writeUInt32BE(bytes.length)
  return Buffer.concat([head, bytes])
}

/** A key pair for one lease, from 32 random bytes. */
export function openSshKey(seed: Uint8Array) {
  const point = ed25519.getPublicKey(seed)
  const publicBlob = Buffer.concat([field('ssh-ed25519'), field(point)])
  const check = randomBytes(4)
  const secret = [check, check, publicBlob, field(Buffer.concat([seed, point])), field('')]
  const length = secret.reduce((sum, part) => sum + part.length, 0)
  // Padded to blocks of eight with 1, 2, 3 …
  const padding = Buffer.from(Array.from({ length: (8 - (length % 8)) % 8 }, (_, i) => i + 1))
  const count = Buffer.from([0, 0, 0, 1])
  const head = [Buffer.from('openssh-key-v1\0'), field('none'), field('none'), field(''), count, field(publicBlob)]
  const whole = Buffer.concat([...head, field(Buffer.concat([...secret, padding]))])
  const body = whole.toString('base64').replace(/.{70}/g, '$&\n').trimEnd()
  return {
    seed,
    /** One line for authorized_keys. */
    publicLine: `ssh-ed25519 ${publicBlob.toString('base64')}`,
    /** In the form of OpenSSH, without a passphrase: it lives in memory, for one lease. */
    privateKey: `-----BEGIN OPENSSH PRIVATE KEY-----\n${body}\n-----END OPENSSH PRIVATE KEY-----\n`,
  }
}
