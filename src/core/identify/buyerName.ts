import type { Catalogue } from './catalogue.ts'

/** The schema holds no longer text, and a foreign catalogue may have any names. */
const MOST_CHARACTERS = 120

/**
 * What a buyer calls these cards: "H200 SXM", or of cards that measure alike all of them, "H100 SXM5 80GB or H100 NVL".
 * Where some of these were sold, only those. Null for none. In the order of the catalogue, because which one is likeliest
 * by a hair says nothing.
 */
export function buyerName(cards: readonly string[], catalogue: Catalogue, sold: readonly string[] = []): string | null {
  const meant = cards.filter((id) => sold.includes(id))
  const ids = meant.length > 0 ? meant : cards
  const names = catalogue.models.filter(({ id }) => ids.includes(id)).map(({ name, vendor }) => shortName(name, vendor))
  const last = names.pop()
  if (last === undefined) return null
  return (names.length > 0 ? `${names.join(', ')} or ${last}` : last).slice(0, MOST_CHARACTERS)
}

/** Without the maker and without what stands in brackets, unless they say that it is a part of a product (attack 133). */
const shortName = (name: string, vendor: string): string =>
  (name.startsWith(`${vendor} `) ? name.slice(vendor.length + 1) : name).replace(/ \((?!one of).*\)$/, '')
