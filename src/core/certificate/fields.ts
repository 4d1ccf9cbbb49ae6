import * as z from 'zod'
import { plainText } from '../bytes/decodeJson.ts'
import { PRECISION_NAMES } from '../params/precision.ts'
import { PRESETS, type PresetName } from '../params/presets.ts'

/** The forms that fields of a certificate have (C3). */
export const hex = (bytes: number) => z.string().regex(new RegExp(`^[0-9a-f]{${2 * bytes}}$`))
export const base64 = z.string().regex(/^[A-Za-z0-9+/]*={0,2}$/)
export const count = z.int().min(0)
export const precision = z.enum(PRECISION_NAMES)
/** A time in the one spelling of `toISOString`. */
export const instant = z.iso.datetime({ precision: 3 })
/** What a person will read is plain and short, whoever signed it (attack 46). */
export const plain = plainText(1000)
export const presetName = z.enum(Object.keys(PRESETS) as PresetName[])
/** Whose box it is about. */
export const proverSubject = z.strictObject({
  name: z.literal('prover'),
  digest: z.strictObject({ ed25519: hex(32) }),
})
