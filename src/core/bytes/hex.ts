import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'

export const toHex = (bytes: Uint8Array): string => bytesToHex(bytes)

/** Lower-case hex of exactly `length` bytes, or null: one spelling per value, so that a changed letter is noticed. */
export function fromHex(text: string, length: number): Uint8Array | null {
  return text.length === 2 * length && /^[0-9a-f]*$/.test(text) ? hexToBytes(text) : null
}
