import * as z from 'zod'
import { SHORT_TEXT } from './printable.ts'

/** The forms that fields of messages and certificates have (C3). */
export const hex = (bytes: number) => z.string().regex(new RegExp(`^[0-9a-f]{${2 * bytes}}$`))
export const base64 = z.string().regex(/^[A-Za-z0-9+/]*={0,2}$/)
export const count = z.int().min(0)
/** A time in the one spelling of `toISOString`. */
export const instant = z.iso.datetime({ precision: 3 })

/** What a person will read is plain and short, whoever sent or signed it (attack 46): anything else is refused, not repaired. */
export const plainText = (mostLetters: number) =>
  z
    .string()
    .max(mostLetters)
    .regex(/^[\x20-\x7e]*$/)
export const shortText = plainText(SHORT_TEXT)
export const plain = plainText(1000)
/** What was found, or asked for. */
export const fact = z.union([z.number(), plainText(200)])
