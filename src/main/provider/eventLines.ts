/** Something that happened, with its facts. */
export type LeaseEvent = Readonly<Record<string, unknown>>

const COLUMNS = 100
const INDENT = '  '

/** An event for people: when, what, then every fact by its name, in lines of at most 100 columns unless a fact is longer. */
export function eventLines(at: Date, { event, ...facts }: LeaseEvent): readonly string[] {
  const time = at.toISOString().slice(0, 19).replace('T', ' ')
  const lines = [`${time} ${event}`]
  for (const [name, value] of Object.entries(facts)) {
    if (value === undefined || value === '' || (Array.isArray(value) && value.length === 0)) continue
    const text = Array.isArray(value) ? value.join(' ') : String(value)
    const last = lines.at(-1)!
    const joined = `${last}${INDENT}${name} ${text}`
    if (joined.length <= COLUMNS) lines[lines.length - 1] = joined
    else if (INDENT.length + name.length + 1 + text.length <= COLUMNS) lines.push(`${INDENT}${name} ${text}`)
    // Whole, so that it can be copied: an address is all that is so long.
    else lines.push(INDENT.length + text.length <= COLUMNS ? INDENT + text : text)
  }
  return lines
}
