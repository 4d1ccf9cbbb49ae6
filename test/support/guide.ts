import { readFileSync } from 'node:fs'

/** The words of a command line as a shell would split them, up to a pipe or a redirection. */
function wordsOf(line: string): string[] {
  const words = [...line.matchAll(/'([^']*)'|"([^"]*)"|([^\s'"]+)/g)].map(([, one, two, bare]) => one ?? two ?? bare!)
  const end = words.findIndex((word) => word === '|' || word === '>')
  return end < 0 ? words : words.slice(0, end)
}

/** Every command that a page shows in a line of its own, in its order, without `touchstone` and without comments. */
export function commandsOn(page: string): string[][] {
  const text = readFileSync(new URL(`../../${page}`, import.meta.url), 'utf8')
  const lines = [...text.matchAll(/^(?: {4}|npx )touchstone (.+?)(?: +# .*)?$/gm)].map(([, words]) => words!)
  return lines.map(wordsOf)
}
