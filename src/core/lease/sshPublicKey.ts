import { fromBase64 } from '../bytes/base64.ts'
import { DecodeError } from '../bytes/reader.ts'

/** A key that access is opened for, in parts, and its one spelling for authorized_keys: no options, no comment. */
export type SshPublicKey =
  | { readonly kind: 'ed25519'; readonly line: string; readonly point: Uint8Array }
  | { readonly kind: 'rsa'; readonly line: string; readonly modulus: Uint8Array; readonly exponent: Uint8Array }

const MIN_RSA_BYTES = 256
const MAX_RSA_BYTES = 1024
const FORM = /^(ssh-ed25519|ssh-rsa) ([A-Za-z0-9+/]{1,2000}={0,2})$/

/** Strict: what passes can stand in authorized_keys as it is, and nothing can be smuggled in beside it. */
export function parseSshPublicKey(text: string): SshPublicKey {
  const match = FORM.exec(text)
  if (match === null) throw new DecodeError('ssh key: not one line of type and base64')
  const blob = fromBase64(match[2]!)
  if (blob === null) throw new DecodeError('ssh key: not the one spelling of base64')
  const fields = readFields(blob)
  if (ascii(fields[0]!) !== match[1]) throw new DecodeError('ssh key: two types in one key')
  if (match[1] === 'ssh-ed25519') {
    if (fields.length !== 2 || fields[1]!.length !== 32) throw new DecodeError('ssh key: not 32 bytes')
    return { kind: 'ed25519', line: text, point: fields[1]! }
  }
  return rsaKey(text, fields)
}

function rsaKey(line: string, fields: readonly Uint8Array[]): SshPublicKey {
  if (fields.length !== 3) throw new DecodeError('ssh key: not two numbers')
  const exponent = positive(fields[1]!)
  const modulus = positive(fields[2]!)
  if (modulus.length < MIN_RSA_BYTES || modulus.length > MAX_RSA_BYTES || modulus[0]! < 0x80)
    throw new DecodeError(`ssh key: RSA of ${8 * modulus.length} bits, 2048 to 8192 allowed`)
  if (exponent.length > 4 || (exponent.at(-1)! & 1) === 0 || (exponent.length === 1 && exponent[0]! < 3))
    throw new DecodeError('ssh key: odd RSA exponent')
  return { kind: 'rsa', line, modulus, exponent }
}

/** RFC 4251 §5: a positive mpint has a zero byte in front only where its first bit is set. */
function positive(field: Uint8Array): Uint8Array {
  if (field.length === 0 || field[0]! >= 0x80) throw new DecodeError('ssh key: a number that is not positive')
  if (field[0] !== 0) return field
  if (field.length < 2 || field[1]! < 0x80) throw new DecodeError('ssh key: a number with idle zeros')
  return field.subarray(1)
}

function readFields(blob: Uint8Array): readonly Uint8Array[] {
  const view = new DataView(blob.buffer, blob.byteOffset, blob.byteLength)
  const fields: Uint8Array[] = []
  let at = 0
  while (at < blob.length) {
    if (blob.length - at < 4) throw new DecodeError('ssh key: cut short')
    const length = view.getUint32(at, false)
    if (length > blob.length - at - 4) throw new DecodeError('ssh key: cut short')
    fields.push(blob.slice(at + 4, at + 4 + length))
    at += 4 + length
  }
  if (fields.length === 0) throw new DecodeError('ssh key: empty')
  return fields
}

const ascii = (bytes: Uint8Array): string => String.fromCharCode(...bytes.subarray(0, 40))
