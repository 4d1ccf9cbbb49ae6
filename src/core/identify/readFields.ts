/** Thrown by `parseCatalogue`: one sentence that names the model and the field. */
export class CatalogueError extends Error {
  override readonly name = 'CatalogueError'
}

export type Fields = Readonly<Record<string, unknown>>

export function fail(where: string, problem: string): never {
  throw new CatalogueError(`Catalogue: ${where} ${problem}.`)
}

/** A plain object with no field beyond `known`: a misspelt field must not be read as a missing one. */
export function readFields(value: unknown, where: string, known: readonly string[]): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) fail(where, 'must be a mapping')
  for (const key of Object.keys(value)) if (!known.includes(key)) fail(`${where}.${key}`, 'is not a known field')
  return value as Fields
}

export function readList(value: unknown, where: string, atMost: number): readonly unknown[] {
  if (!Array.isArray(value)) fail(where, 'must be a list')
  if (value.length > atMost) fail(where, `has ${value.length} entries; at most ${atMost} are allowed`)
  return value
}

const PRINTABLE = /^[\x20-\x7e]{1,200}$/

export function readText(value: unknown, where: string): string {
  if (typeof value !== 'string' || !PRINTABLE.test(value)) fail(where, 'must be 1 to 200 printable ASCII characters')
  return value
}

export function readId(value: unknown, where: string): string {
  const text = readText(value, where)
  if (!/^[a-z0-9][a-z0-9.-]{0,63}$/.test(text)) fail(where, 'must be lower-case letters, digits, dots and dashes')
  return text
}

export function readPositive(value: unknown, where: string, atMost: number): number {
  if (typeof value !== 'number' || !(value > 0) || value > atMost)
    fail(where, `must be a number above 0 and at most ${atMost}`)
  return value
}

export function readChoice<T extends string>(value: unknown, where: string, choices: readonly T[]): T {
  const found = choices.find((choice) => choice === value)
  return found ?? fail(where, `must be one of ${choices.join(', ')}`)
}

export function readFlag(value: unknown, where: string): boolean {
  if (typeof value !== 'boolean') fail(where, 'must be true or false')
  return value
}
