import * as z from 'zod'
import { PRECISION_NAMES, type Precision } from '../params/precision.ts'

/** The forms that fields of a certificate have (C3). */
export const hex = (bytes: number) => z.string().regex(new RegExp(`^[0-9a-f]{${2 * bytes}}$`))
export const base64 = z.string().regex(/^[A-Za-z0-9+/]*={0,2}$/)
export const count = z.int().min(0)
export const precision = z.enum(PRECISION_NAMES as [Precision, ...Precision[]])
/** A time in the one spelling of `toISOString`. */
export const instant = z.iso.datetime({ precision: 3 })
/** What a person will read is plain and short, whoever signed it (attack 46). */
export const plain = z
  .string()
  .max(1000)
  .regex(/^[\x20-\x7e]*$/)
