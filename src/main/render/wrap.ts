/** A text broken between words, so that no row is wider than the columns unless one word is. */
export function wrap(text: string, columns: number, first = columns): string[] {
  const rows: string[] = []
  for (const word of text.split(' ')) {
    const last = rows.at(-1)
    if (last === undefined || last.length + 1 + word.length > (rows.length === 1 ? first : columns)) rows.push(word)
    else rows[rows.length - 1] = `${last} ${word}`
  }
  return rows
}
