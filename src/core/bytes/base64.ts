/** So many letters at a time: a call takes no more arguments. */
const PIECE = 8192

export function toBase64(bytes: Uint8Array): string {
  let letters = ''
  // Spread out, the same takes four times as long.
  for (let at = 0; at < bytes.length; at += PIECE)
    letters += Reflect.apply(String.fromCharCode, null, bytes.subarray(at, at + PIECE))
  return btoa(letters)
}

/** One spelling per value: padding is required, spare bits are zero, nothing else is skipped. Null otherwise. */
export function fromBase64(text: string): Uint8Array | null {
  let letters: string
  try {
    letters = atob(text)
  } catch {
    return null
  }
  const bytes = new Uint8Array(letters.length)
  for (let i = 0; i < bytes.length; i++) bytes[i] = letters.charCodeAt(i)
  // A browser forgives blanks, missing padding and spare bits.
  return toBase64(bytes) === text ? bytes : null
}
