import type * as z from 'zod'

/**
 * A program that is not checked by a compiler may hand in anything, and what is compared with no number is never too small:
 * it would be a yes (attack 445). Whatever has not the documented form is a fault of the caller.
 */
export function requireForm(schema: z.ZodType, value: unknown, what: string): void {
  const read = schema.safeParse(value)
  if (read.success) return
  const [issue] = read.error.issues
  const field = issue?.code === 'unrecognized_keys' ? [...issue.path, issue.keys[0]] : (issue?.path ?? [])
  throw new RangeError(`${[what, ...field.map(String)].join('.')} is not of the documented form`)
}
