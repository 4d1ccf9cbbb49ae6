import * as z from 'zod'
import { hex } from '../bytes/fields.ts'
import { PRECISION_NAMES } from '../params/precision.ts'
import { PRESETS, type PresetName } from '../params/presets.ts'

export const precision = z.enum(PRECISION_NAMES)
export const presetName = z.enum(Object.keys(PRESETS) as PresetName[])

/** Whose box it is about. */
export const proverSubject = z.strictObject({
  name: z.literal('prover'),
  digest: z.strictObject({ ed25519: hex(32) }),
})
