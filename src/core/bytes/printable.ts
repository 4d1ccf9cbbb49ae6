/** What strangers say of themselves is no longer than this where it is signed or stored (`shortText`). */
export const SHORT_TEXT = 120

/** Foreign text as plain ASCII of at most so many letters: control characters, escapes and everything beyond are replaced. */
export function printable(text: string, maxLength = 200): string {
  const cut = text.length > maxLength ? `${text.slice(0, maxLength - 3)}...` : text
  return cut.replace(/[^\x20-\x7e]/g, '?')
}

/** Frames of a stack, and what Node prints around an error: the message between them is what a reader needs. */
const NOISE = /^(at |node:internal|Node\.js v|\^+$|\}$|$)/

/** The end of what a foreign program wrote, as one plain line of at most `maxLength` letters. */
export function lastWords(text: string, maxLength = 300): string {
  const lines = text.split(/[\r\n]+/).map((line) => line.trim())
  const words = lines.filter((line) => !NOISE.test(line)).join(' ')
  return printable(words.slice(-maxLength), maxLength)
}
