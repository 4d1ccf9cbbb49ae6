/** A command line with other values: what `more` names again goes, since no option may be given twice. */
export function withOther(words: readonly string[], more: readonly string[]): string[] {
  let owner = ''
  const kept = words.filter((word) => {
    if (word.startsWith('--')) owner = word
    return !more.includes(owner)
  })
  return [...kept, ...more]
}
