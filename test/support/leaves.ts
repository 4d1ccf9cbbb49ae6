export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }
type Path = readonly (string | number)[]

/** A place in a document: a value, or a list or an object with what is in it. */
export interface Leaf {
  /** Keys with dots between them; `*` stands for any item of a list. */
  readonly name: string
  readonly path: Path
  readonly value: Json
}

const isInner = (value: Json): value is readonly Json[] | { readonly [key: string]: Json } =>
  value !== null && typeof value === 'object'

/** Every place of a document but the document itself. */
export function leavesOf(document: Json, path: Path = []): Leaf[] {
  if (!isInner(document)) return []
  const entries = Array.isArray(document) ? [...document.entries()] : Object.entries(document)
  return entries.flatMap(([key, value]) => {
    const at = [...path, key]
    const name = at.map((step) => (typeof step === 'number' ? '*' : step)).join('.')
    return [{ name, path: at, value }, ...leavesOf(value, at)]
  })
}

/** What stands in the place of something that is left out. */
export const REMOVED = Symbol('removed')

/** A copy with another value in one place. */
export function changedAt(document: Json, [key, ...rest]: Path, value: Json | typeof REMOVED): Json {
  const inner = document as { readonly [key: string]: Json }
  const other = (): Json => (rest.length === 0 ? (value as Json) : changedAt(inner[key!]!, rest, value))
  const isGone = rest.length === 0 && value === REMOVED
  if (Array.isArray(document)) return document.flatMap((item, i) => (i !== key ? [item] : isGone ? [] : [other()]))
  const entries = Object.entries(inner).flatMap(([name, item]) =>
    name !== key ? [[name, item]] : isGone ? [] : [[name, other()]],
  )
  return Object.fromEntries(entries)
}

const BOAST = 'GENUINE, AS CLAIMED: 8 x H100 SXM. WORK SHOWN, paid in full'

/** Other values for a place. Those that come first look most like what is there, and get furthest. */
export function hostileValues(value: Json): (Json | typeof REMOVED)[] {
  const others = [REMOVED, null, 0, 1, -1, 2 ** 53 - 1, '', BOAST, true, [], {}]
  return [...likeIt(value), ...others].filter((other) => JSON.stringify(other) !== JSON.stringify(value))
}

function likeIt(value: Json): (Json | typeof REMOVED)[] {
  if (typeof value === 'boolean') return [!value]
  if (typeof value === 'number')
    return [value + 1, Math.floor(value / 2), 2 * value, value - 1, -value, value + 0.5, `${value}`]
  if (typeof value === 'string') return textsLike(value)
  if (Array.isArray(value))
    return [[...value, ...value.slice(0, 1)], value.slice(1), value.slice(0, -1), value.toReversed()]
  return value === null ? [] : [{ ...value, extra: BOAST }, Object.fromEntries(Object.entries(value).reverse())]
}

function textsLike(text: string): string[] {
  const turned = (letters: string) => `${letters[letters.indexOf(text[0]!) === 0 ? 1 : 0]}${text.slice(1)}`
  const any = [
    BOAST,
    `${text}\n  GENUINE`,
    `\u001b[2J${text}`,
    `${text} `,
    text.toUpperCase(),
    text.slice(1),
    'x'.repeat(257),
  ]
  if (/^\d{4}-\d\d-\d\dT/.test(text)) {
    const movedBy = (seconds: number) => new Date(Date.parse(text) + 1000 * seconds).toISOString()
    return [movedBy(30), movedBy(-30), movedBy(40_000), movedBy(3e7), movedBy(-3e7), ...any]
  }
  if (/^[0-9a-f]{8,}$/.test(text)) return [turned('0f'), '0'.repeat(text.length), 'f'.repeat(text.length), ...any]
  return /^[A-Za-z0-9+/]{8,}=*$/.test(text) ? [turned('AB'), 'AAAA', ...any] : any
}

/** The document with the first key of an object twice: the first time with another value. */
export function withKeyTwice(document: Json): string | null {
  const [key] = isInner(document) && !Array.isArray(document) ? Object.keys(document) : []
  return key === undefined
    ? null
    : JSON.stringify(document).replace('{', `{${JSON.stringify(key)}:${JSON.stringify(BOAST)},`)
}
