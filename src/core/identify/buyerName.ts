import type { Catalogue } from './catalogue.ts'

/**
 * What a buyer calls it: "H200 SXM", or of cards that measure alike all of them, "H100 SXM5 80GB or H100 NVL". Where some of
 * these were sold, only those. Null for an unknown card. In the order of the catalogue, because which one is likeliest by
 * a hair says nothing.
 */
export function buyerName(
  identity: { readonly model: string | null; readonly twins: readonly string[] },
  catalogue: Catalogue,
  sold: readonly string[] = [],
): string | null {
  if (identity.model === null) return null
  const group = [identity.model, ...identity.twins]
  const meant = group.filter((id) => sold.includes(id))
  const ids = meant.length > 0 ? meant : group
  const models = catalogue.models.filter(({ id }) => ids.includes(id))
  const names = models.map(({ name, vendor }) => shortName(name, vendor))
  return names.length > 1 ? `${names.slice(0, -1).join(', ')} or ${names.at(-1)}` : (names[0] ?? identity.model)
}

/** Without the maker and without what stands in brackets. */
const shortName = (name: string, vendor: string): string =>
  (name.startsWith(`${vendor} `) ? name.slice(vendor.length + 1) : name).replace(/ \(.*\)$/, '')
