/** What one letter in common at the start, or in a shared run of letters or digits, is worth in typing mistakes. */
const COMMON = 0.5
/** A name whose mistakes are more than this share of what was typed is not what was meant. */
const TOO_FAR = 0.7
/** Names up to this many mistakes behind the closest are worth showing. */
const NEARLY = 2

export interface Spelling {
  /** As shown. */
  readonly name: string
  /** As compared: lower-case letters and digits, and blanks between words. */
  readonly words: string
}

/** The names most likely meant, best first; none when nothing is near. `wanted` has the form of `words`. */
export function closestNames(wanted: string, names: readonly Spelling[], most: number): readonly string[] {
  const ranked = names
    .map(({ name, words }) => ({ name, away: distance(wanted, words) }))
    .filter(({ away }) => away <= TOO_FAR * wanted.length)
    .sort((a, b) => a.away - b.away)
  return ranked
    .filter(({ away }) => away <= ranked[0]!.away + NEARLY)
    .slice(0, most)
    .map(({ name }) => name)
}

/** Mistakes between the two, less what speaks for one having been meant by the other: "4090" lacks three letters of "rtx4090". */
function distance(wanted: string, words: string): number {
  const runs = runsOf(words)
  const shared = runsOf(wanted).filter((run) => run.length > 1 && runs.includes(run))
  const [a, b] = [wanted.replaceAll(' ', ''), words.replaceAll(' ', '')]
  const common = prefixLength(a, b) + shared.reduce((sum, run) => sum + weight(run) * run.length, 0)
  return mistakes(a, b) - COMMON * common
}

/** A long number is the model itself; short ones are sizes and counts. */
const weight = (run: string): number => (/^\d{3,}$/.test(run) ? 2 : 1)

const runsOf = (text: string): readonly string[] => text.match(/[a-z]+|\d+/g) ?? []

function prefixLength(a: string, b: string): number {
  let length = 0
  while (length < a.length && a[length] === b[length]) length++
  return length
}

/** Letters to add, drop, change or swap with their neighbour. */
function mistakes(a: string, b: string): number {
  let before: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const change = last[j - 1]! + Number(a[i - 1] !== b[j - 1])
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const swap = swapped ? before[j - 2]! + 1 : change
      row.push(Math.min(change, swap, last[j]! + 1, row[j - 1]! + 1))
    }
    before = last
    last = row
  }
  return last[b.length]!
}
