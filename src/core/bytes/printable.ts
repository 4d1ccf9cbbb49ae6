/** Foreign text as plain ASCII: control characters, escapes and everything beyond are replaced, the length is capped. */
export function printable(text: string, maxLength = 200): string {
  const clean = text.slice(0, maxLength).replace(/[^\x20-\x7e]/g, '?')
  return text.length > maxLength ? `${clean}...` : clean
}

/** Frames of a stack, and what Node prints around an error: the message between them is what a reader needs. */
const NOISE = /^(at |node:internal|Node\.js v|\^+$|\}$|$)/

/** The end of what a foreign program wrote, as one plain line of at most `maxLength` letters. */
export function lastWords(text: string, maxLength = 300): string {
  const lines = text.split(/[\r\n]+/).map((line) => line.trim())
  const words = lines.filter((line) => !NOISE.test(line)).join(' ')
  return printable(words.slice(-maxLength), maxLength)
}
