import * as z from 'zod'
import { type DeepReadonly, decodeJson } from '../bytes/decodeJson.ts'
import { count, shortText } from '../bytes/fields.ts'
import { MAX_DEVICES } from '../params/constants.ts'
import { PRECISION_NAMES } from '../params/precision.ts'
import { type Claimed, claimed } from '../params/provenance.ts'

const detailName = z
  .string()
  .regex(/^[a-zA-Z][a-zA-Z0-9]{0,39}$/)
  .refine((name) => !Object.hasOwn(Object.prototype, name) && name !== 'prototype')

const detailValue = z.union([shortText, z.number().finite(), z.boolean()])

/** They are counted first: a page of wrong ones took a second to refuse, one by one (attack 433). */
export const details = z
  .unknown()
  .refine((record) => Object.keys(record ?? {}).length <= 64, 'at most 64 details')
  .pipe(z.record(detailName, detailValue))

/** Whose driver serves a device: a name to show, so an unknown back end is not a reason to refuse a box. */
const backEnd = z.string().regex(/^[a-z][a-z0-9]{0,19}$/)

const commonFacts = {
  name: shortText,
  memoryBytes: count,
  freeBytes: count,
  /** What the device can run; anything else is "unsupported", not failed. */
  precisions: z.array(z.enum(PRECISION_NAMES)).max(PRECISION_NAMES.length),
  /** Further claims: uuid, pci, driver, clocks, product library … */
  details,
}

export const deviceFacts = z.strictObject({ class: z.enum(['cpu', 'gpu']), backEnd, ...commonFacts })

const fields = {
  program: shortText,
  devices: z.array(deviceFacts).min(1).max(MAX_DEVICES),
  host: details,
}

/** What the program on a box says, before anybody else hears it. */
export type OwnInventory = DeepReadonly<z.infer<z.ZodObject<typeof fields>>>

const claimedBy = <S extends z.ZodType>(schema: S) => schema as z.ZodType<Claimed<z.infer<S>>>

/** §1. What the box says of itself: claims, shown as claims, used to size the question and never to accept an answer. */
export const inventorySchema = claimedBy(z.strictObject(fields))
export type Inventory = z.infer<typeof inventorySchema>

/** As certificates of version 1 carry it: `kind` was class and back end in one. */
export const inventoryVersion1 = claimedBy(
  z.strictObject({
    ...fields,
    devices: z
      .array(z.strictObject({ kind: z.enum(['cpu', 'cuda']), ...commonFacts }))
      .min(1)
      .max(MAX_DEVICES),
  }),
)

export const inventoryOfVersion1 = ({ devices, ...rest }: z.infer<typeof inventoryVersion1>): Inventory => ({
  ...rest,
  devices: devices.map(({ kind, ...facts }) => ({
    class: kind === 'cpu' ? 'cpu' : 'gpu',
    backEnd: claimed<string>(kind),
    ...facts,
  })),
})

export const encodeInventory = (inventory: OwnInventory): Uint8Array =>
  new TextEncoder().encode(JSON.stringify(inventory))

/** Strict: UTF-8, JSON, exactly the known fields, printable and short. */
export function decodeInventory(bytes: Uint8Array): Inventory {
  return decodeJson(bytes, inventorySchema, 'inventory')
}
