/** A piece of a page: text, or an element. Nothing in it is ever read as markup. */
export type Html = string | HtmlElement

export interface HtmlElement {
  readonly tag: string
  readonly attributes: Readonly<Record<string, string>>
  readonly children: readonly Html[]
}

export const element = (
  tag: string,
  attributes: Readonly<Record<string, string>>,
  ...children: readonly Html[]
): HtmlElement => ({ tag, attributes, children })

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Whatever it says, it stays text; control characters other than line ends are shown as a question mark. */
const escapeText = (text: string): string =>
  text.replace(/[^\P{C}\n]/gu, '?').replace(/[&<>"']/g, (letter) => ENTITIES[letter]!)

const VOID = ['meta', 'br', 'hr']

/** As markup, everything escaped. */
export function toHtml(piece: Html): string {
  if (typeof piece === 'string') return escapeText(piece)
  const { tag, attributes, children } = piece
  const given = Object.entries(attributes).map(([name, value]) => ` ${name}="${escapeText(value)}"`)
  const open = `<${tag}${given.join('')}>`
  return VOID.includes(tag) ? open : `${open}${children.map(toHtml).join('')}</${tag}>`
}
