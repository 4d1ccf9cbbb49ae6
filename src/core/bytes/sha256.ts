import { sha256 as nobleSha256 } from '@noble/hashes/sha2.js'
import { ascii, concatBytes } from './bytes.ts'

export const sha256 = (...parts: readonly Uint8Array[]): Uint8Array =>
  nobleSha256(parts.length === 1 ? parts[0]! : concatBytes(...parts))

/** SHA-256 under one of the protocol's ASCII tags, so that no two uses of the hash can be confused. */
export const taggedHash = (tag: string, ...parts: readonly Uint8Array[]): Uint8Array => sha256(ascii(tag), ...parts)
