/** Of one page, as JSON; an item that is larger comes alone. */
const MOST_PAGE_BYTES = 1024 * 1024

/** As much of a page as its bytes allow; what is left begins the next one. */
export function pageWithin<T>(
  { items, next }: { readonly items: readonly T[]; readonly next: string | null },
  cursorOf: (item: T) => string,
): { items: T[]; next: string | null } {
  let bytes = 0
  const fits = items.findIndex((item, i) => {
    bytes += new TextEncoder().encode(JSON.stringify(item)).length
    return i > 0 && bytes > MOST_PAGE_BYTES
  })
  if (fits < 0) return { items: [...items], next }
  return { items: items.slice(0, fits), next: cursorOf(items[fits - 1]!) }
}
