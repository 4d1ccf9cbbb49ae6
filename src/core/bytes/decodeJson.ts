import type * as z from 'zod'
import { parseStrictJson } from './parseStrictJson.ts'
import { DecodeError } from './reader.ts'

/** Hostile JSON to a value of a schema, or a DecodeError that names the field and repeats nothing of the content. */
export function decodeJson<T>(bytes: Uint8Array, schema: z.ZodType<T>, what: string): T {
  let value: unknown
  try {
    value = parseStrictJson(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes))
  } catch {
    throw new DecodeError(`${what}: not JSON`)
  }
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  const path = issue?.path.filter((step) => typeof step === 'number' || /^[a-zA-Z]{1,30}$/.test(String(step))).join('.')
  throw new DecodeError(`${what}${path ? ` at ${path}` : ''}: ${issue?.code ?? 'invalid'}`)
}

/** What was read is not changed. */
export type DeepReadonly<T> = unknown extends T
  ? T
  : T extends string | number | boolean | null | undefined
    ? T
    : { readonly [K in keyof T]: DeepReadonly<T[K]> }
