/** JSON whose objects carry no `__proto__`: no validator downstream has to wonder what the key did. */
export function parseStrictJson(text: string): unknown {
  return JSON.parse(text, (key, value: unknown) => {
    if (key === '__proto__') throw new SyntaxError('a key that is not allowed')
    return value
  })
}
