import { wrap } from './wrap.ts'

const INDENT = 17
const COLUMNS = 80

/** A label and its text, broken between words so that it reads in 80 columns; nothing where there is no text. */
export function labelled(label: string, text: string | null, indent = INDENT, columns = COLUMNS): string[] {
  if (text === null) return []
  return wrap(text, columns - indent).map((row, i) => `${(i === 0 ? `  ${label}` : '').padEnd(indent)}${row}`)
}

/** A command stays on one line: it is copied whole. */
export const labelledCommand = (label: string, command: string | null): string[] =>
  labelled(label, command, INDENT, Number.POSITIVE_INFINITY)
