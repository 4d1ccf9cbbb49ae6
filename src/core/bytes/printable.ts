/** Foreign text as plain ASCII: control characters, escapes and everything beyond are replaced, the length is capped. */
export function printable(text: string, maxLength = 200): string {
  const clean = text.slice(0, maxLength).replace(/[^\x20-\x7e]/g, '?')
  return text.length > maxLength ? `${clean}...` : clean
}
