const DIGITS = '0123456789abcdef'

export function toHex(bytes: Uint8Array): string {
  let out = ''
  for (const byte of bytes) out += DIGITS[byte >> 4]! + DIGITS[byte & 15]!
  return out
}

/** Lower-case hex of exactly `length` bytes, or null: one spelling per value, so that a changed letter is noticed. */
export function fromHex(text: string, length: number): Uint8Array | null {
  if (text.length !== 2 * length || !/^[0-9a-f]*$/.test(text)) return null
  return Uint8Array.from({ length }, (_, i) => Number.parseInt(text.slice(2 * i, 2 * i + 2), 16))
}
