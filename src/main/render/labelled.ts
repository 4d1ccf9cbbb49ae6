const INDENT = 17
const COLUMNS = 80

/** A label and its text, broken between words so that it reads in 80 columns; nothing where there is no text. */
export function labelled(label: string, text: string | null): string[] {
  if (text === null) return []
  const rows: string[] = []
  for (const word of text.split(' ')) {
    const last = rows.at(-1)
    if (last === undefined || INDENT + last.length + 1 + word.length > COLUMNS) rows.push(word)
    else rows[rows.length - 1] = `${last} ${word}`
  }
  return rows.map((row, i) => `${(i === 0 ? `  ${label}` : '').padEnd(INDENT)}${row}`)
}
