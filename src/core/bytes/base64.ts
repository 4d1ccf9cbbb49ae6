const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const VALUES = new Int8Array(128).fill(-1)
for (const [value, letter] of [...ALPHABET].entries()) VALUES[letter.charCodeAt(0)] = value

export function toBase64(bytes: Uint8Array): string {
  const chunks: string[] = []
  for (let at = 0; at < bytes.length; at += 3) {
    const left = bytes.length - at
    const group = (bytes[at]! << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0)
    chunks.push(ALPHABET[group >> 18]! + ALPHABET[(group >> 12) & 63]!)
    chunks.push(left > 1 ? ALPHABET[(group >> 6) & 63]! : '=', left > 2 ? ALPHABET[group & 63]! : '=')
  }
  return chunks.join('')
}

/** One spelling per value: padding is required, spare bits are zero, nothing else is skipped. Null otherwise. */
export function fromBase64(text: string): Uint8Array | null {
  if (text.length % 4 !== 0) return null
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0
  const letters = text.length - padding
  const out = new Uint8Array((text.length / 4) * 3 - padding)
  let group = 0
  let at = 0
  for (let i = 0; i < letters; i++) {
    const code = text.charCodeAt(i)
    const value = code < 128 ? VALUES[code]! : -1
    if (value < 0) return null
    group = ((group << 6) | value) & 0xffffff
    if (i % 4 === 3) {
      out[at++] = group >> 16
      out[at++] = (group >> 8) & 255
      out[at++] = group & 255
    }
  }
  if (padding === 1) {
    if ((group & 3) !== 0) return null
    out[at++] = (group >> 10) & 255
    out[at++] = (group >> 2) & 255
  } else if (padding === 2) {
    if ((group & 15) !== 0) return null
    out[at++] = (group >> 4) & 255
  }
  return out
}
