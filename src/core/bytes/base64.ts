const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const LETTERS = Uint8Array.from(ALPHABET, (letter) => letter.charCodeAt(0))
const PADDING = '='.charCodeAt(0)
const VALUES = new Int8Array(128).fill(-1)
for (const [value, letter] of [...ALPHABET].entries()) VALUES[letter.charCodeAt(0)] = value

/** Certificates hold a megabyte of it: letters are written as bytes and become text at once. */
export function toBase64(bytes: Uint8Array): string {
  const whole = bytes.length - (bytes.length % 3)
  const out = new Uint8Array(4 * Math.ceil(bytes.length / 3)).fill(PADDING)
  let to = 0
  for (let at = 0; at < whole; at += 3) {
    const group = (bytes[at]! << 16) | (bytes[at + 1]! << 8) | bytes[at + 2]!
    out[to++] = LETTERS[group >> 18]!
    out[to++] = LETTERS[(group >> 12) & 63]!
    out[to++] = LETTERS[(group >> 6) & 63]!
    out[to++] = LETTERS[group & 63]!
  }
  if (whole < bytes.length) {
    const group = (bytes[whole]! << 16) | ((bytes[whole + 1] ?? 0) << 8)
    out[to++] = LETTERS[group >> 18]!
    out[to++] = LETTERS[(group >> 12) & 63]!
    if (whole + 2 === bytes.length) out[to] = LETTERS[(group >> 6) & 63]!
  }
  return new TextDecoder().decode(out)
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
