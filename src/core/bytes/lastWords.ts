import { printable } from './printable.ts'

/** Frames of a stack, and what Node prints around an error: the message between them is what a reader needs. */
const NOISE = /^(at |node:internal|Node\.js v|\^+$|\}$|$)/

/** The end of what a foreign program wrote, as one plain line of at most `maxLength` letters. */
export function lastWords(text: string, maxLength = 300): string {
  const lines = text.split(/[\r\n]+/).map((line) => line.trim())
  const words = lines.filter((line) => !NOISE.test(line)).join(' ')
  return printable(words.slice(-maxLength), maxLength)
}
