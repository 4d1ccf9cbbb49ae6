/** JSON whose objects carry no `__proto__`, for who compares the spelling afterwards: a key may come twice. */
export function parseProtoless(text: string): unknown {
  return JSON.parse(text, (key, value: unknown) => {
    if (key === '__proto__') throw new SyntaxError('a key that is not allowed')
    return value
  })
}

/** JSON in which every key stands once, and none is `__proto__`: whoever reads it sees the same. */
export function parseStrictJson(text: string): unknown {
  const value = parseProtoless(text)
  if (keysIn(JSON.stringify(value)) !== keysIn(text)) throw new SyntaxError('a key that comes twice')
  return value
}

/** Without escapes every other quote ends a string, and a colon behind that makes it a key. */
const keysIn = (text: string): number =>
  text
    .replace(/\\./g, '')
    .split('"')
    .filter((part, i) => i % 2 === 0 && /^\s*:/.test(part)).length
