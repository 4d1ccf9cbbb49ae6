import { malformed } from './refusals.ts'

/** An element of the small XML that golden values are written in. */
export interface XmlElement {
  /** Namespace and local name. */
  readonly namespace: string
  readonly name: string
  /** As written, with its prefix. */
  readonly tag: string
  readonly attributes: readonly XmlAttribute[]
  /** Prefix to namespace, all that are in scope. */
  readonly scope: ReadonlyMap<string, string>
  readonly children: readonly (XmlElement | string)[]
}

export interface XmlAttribute {
  readonly namespace: string
  readonly name: string
  readonly tag: string
  readonly value: string
}

const WHAT = 'XML'
/** Ten times what the largest known file has. */
const MOST_BYTES = 256 * 1024
const MOST_DEPTH = 8
const MOST_ELEMENTS = 1024
const MOST_ATTRIBUTES = 256

/** One token: an opening or closing tag, or text; sticky, so that nothing is read twice. */
const OPENING = /<([A-Za-z][\w:.-]{0,63})((?: [A-Za-z][\w:.-]{0,63}="[^"<&\n]*")*)(\/?)>/y
const CLOSING = /<\/([A-Za-z][\w:.-]{0,63})>/y
const TEXT = /[^<>&]+/y
const ATTRIBUTE = / ([A-Za-z][\w:.-]*)="([^"]*)"/g

interface Open {
  readonly element: XmlElement & { readonly children: (XmlElement | string)[] }
}

/**
 * Reads elements, attributes in double quotes and plain ASCII text; refuses everything else that XML has: entities,
 * comments, instructions, doctypes, CDATA. Time and memory grow with the length, which is limited.
 */
export function readXml(bytes: Uint8Array): XmlElement {
  if (bytes.length > MOST_BYTES) malformed(WHAT)
  const text = new TextDecoder('latin1').decode(bytes).replace(/\n{1,2}$/, '')
  if (!/^[\n\x20-\x7e]*$/.test(text)) malformed(WHAT)
  const open: Open[] = []
  let elements = 0
  let root: XmlElement | null = null
  let at = 0
  const next = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at
    const match = pattern.exec(text)
    if (match) at += match[0].length
    return match
  }
  while (at < text.length) {
    // Nothing stands before the root or after it.
    if (root !== null && open.length === 0) malformed(WHAT)
    const parent = open.at(-1)?.element
    const start = next(OPENING)
    if (start) {
      if (++elements > MOST_ELEMENTS || open.length === MOST_DEPTH) malformed(WHAT)
      const element = elementOf(start[1]!, start[2]!, parent?.scope ?? new Map())
      parent?.children.push(element)
      root ??= element
      if (start[3] === '') open.push({ element })
      continue
    }
    const end = next(CLOSING)
    if (end && parent?.tag === end[1]) open.pop()
    else if (end || parent === undefined) malformed(WHAT)
    else parent.children.push(next(TEXT)?.[0] ?? malformed(WHAT))
  }
  return root !== null && open.length === 0 ? root : malformed(WHAT)
}

function elementOf(tag: string, written: string, outer: ReadonlyMap<string, string>): Open['element'] {
  const pairs = [...written.matchAll(ATTRIBUTE)].map(([, name, value]) => [name!, value!] as const)
  if (pairs.length > MOST_ATTRIBUTES || new Set(pairs.map(([name]) => name)).size < pairs.length) malformed(WHAT)
  const declared = pairs.filter(([name]) => isDeclaration(name))
  // To take a namespace back has rules of its own in the canonical form.
  if (declared.some(([, namespace]) => namespace === '')) malformed(WHAT)
  const scope =
    declared.length === 0 ? outer : new Map([...outer, ...declared.map(([n, v]) => [prefixOf(n), v] as const)])
  const attributes = pairs
    .filter(([name]) => !isDeclaration(name))
    .map(([name, value]) => ({ ...resolved(name, scope, ''), tag: name, value }))
  return { ...resolved(tag, scope, scope.get('') ?? ''), tag, attributes, scope, children: [] }
}

const isDeclaration = (name: string): boolean => name === 'xmlns' || name.startsWith('xmlns:')
const prefixOf = (declaration: string): string => declaration.slice('xmlns:'.length)

/** A name with its namespace; a prefix must have been declared. */
function resolved(
  tag: string,
  scope: ReadonlyMap<string, string>,
  unprefixed: string,
): { readonly namespace: string; readonly name: string } {
  const [first, second, ...more] = tag.split(':')
  if (more.length > 0 || second === '') malformed(WHAT)
  if (second === undefined) return { namespace: unprefixed, name: first! }
  return { namespace: scope.get(first!) || malformed(WHAT), name: second }
}

/**
 * Canonical XML 1.1 of an element for the forms that `readXml` lets through, without the element `leftOut`. `above`
 * holds the namespaces that were already written around it.
 */
export function canonicalXml(
  element: XmlElement,
  leftOut: XmlElement | null = null,
  above: ReadonlyMap<string, string> = new Map(),
): string {
  const { tag, attributes, scope, children } = element
  const declarations = [...scope]
    .filter(([prefix, namespace]) => above.get(prefix) !== namespace)
    .sort(([a], [b]) => order(a, b))
    .map(([prefix, namespace]) => ` xmlns${prefix === '' ? '' : `:${prefix}`}="${namespace}"`)
  const sorted = [...attributes].sort((a, b) => order(a.namespace, b.namespace) || order(a.name, b.name))
  const inside = children
    .filter((child) => child !== leftOut)
    .map((child) => (typeof child === 'string' ? child : canonicalXml(child, leftOut, scope)))
  return `<${tag}${declarations.join('')}${sorted.map((one) => ` ${one.tag}="${one.value}"`).join('')}>${inside.join('')}</${tag}>`
}

const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** The elements inside; between them stand only blanks. */
export function elementsOf({ children }: XmlElement): XmlElement[] {
  const [elements, texts] = [children.filter(isElement), children.filter((child) => !isElement(child))]
  return texts.every((text) => /^[ \n]*$/.test(text as string)) ? elements : malformed(WHAT)
}

const isElement = (child: XmlElement | string): child is XmlElement => typeof child !== 'string'

/** The text of an element that holds nothing else. */
export function textOf({ children }: XmlElement): string {
  return children.map((child) => (isElement(child) ? malformed(WHAT) : child)).join('')
}

/** The value of an attribute, or null. */
export const attributeOf = ({ attributes }: XmlElement, name: string, namespace = ''): string | null =>
  attributes.find((one) => one.name === name && one.namespace === namespace)?.value ?? null
