import { z } from '@hono/zod-openapi'

const hex = (bytes: number) => z.string().regex(new RegExp(`^[0-9a-f]{${2 * bytes}}$`))
/** Any number of bytes, at most a whole transaction. */
const bytes = z.string().regex(/^([0-9a-f]{2})*$/)
export const hash = hex(32)
export const accountKey = hex(32).meta({ description: 'The public key of an account or a box, in lower-case hex.' })
/** Numbers of the chain pass 2^53: they travel as decimal text. */
const whole = z.string().regex(/^(0|[1-9][0-9]{0,38})$/)

/** A place in a list of the state. */
const listPlace = z
  .int()
  .min(0)
  .max(2 ** 30)

/** Which state is asked: that of the tip, or of the last final block. */
export const atQuery = z.object({ at: z.enum(['head', 'final']).default('final') })

export const placeSchema = z
  .object({
    id: hash,
    height: z.int(),
    slot: z.int(),
    parent: z.string(),
    author: z.string().meta({ description: 'Empty for the genesis.' }),
    isPrimary: z.boolean().meta({ description: 'Won by lottery; else by the account that was drawn for the slot.' }),
  })
  .openapi('BlockPlace')

export const chainSchema = z
  .object({
    program: z.string(),
    genesis: hash,
    preset: z.string(),
    startedAtMs: z.int(),
    slotMs: z.int(),
    epochSlots: z.int(),
    feePerByte: whole.meta({ description: 'Units for each byte of a transaction.' }),
    slot: z.int().meta({ description: 'By the clock of the node.' }),
    head: placeSchema,
    final: placeSchema,
    peers: z.int(),
    pooled: z.int().meta({ description: 'Transactions that wait for a block.' }),
    isSyncing: z.boolean(),
    isHalted: z.boolean().meta({ description: 'It saw two final blocks that exclude each other.' }),
    account: z.string().nullable(),
  })
  .openapi('Chain')

export const txSchema = z
  .object({
    id: hash,
    kind: z.int(),
    account: accountKey,
    nonce: whole,
    fee: whole,
    payer: accountKey.nullable(),
    payload: bytes,
  })
  .openapi('Transaction')

export const blockSchema = z
  .object({
    ...placeSchema.shape,
    isFinal: z.boolean(),
    header: bytes
      .nullable()
      .meta({ description: 'SSZ bytes; its root without the signature is the id. Null: genesis.' }),
    transactions: z.array(txSchema).readonly(),
  })
  .openapi('Block')

/** A leaf of the state and the siblings on its way to the root; where it stands is for the reader to work out (§3.2.17). */
export const lightProofSchema = z
  .object({ leaf: hash, witnesses: z.array(hash).max(64).readonly() })
  .openapi('LightProof')

/** The state that something is from: the block that made it, whose header has its root. */
const proven = { block: placeSchema, header: blockSchema.shape.header }

export const accountSchema = z
  .object({
    account: accountKey,
    block: placeSchema,
    place: listPlace.meta({ description: 'Which account it is, counted from 0.' }),
    nonce: whole,
    nextNonce: whole.meta({ description: 'After those of its transactions that wait.' }),
    balance: whole,
    bond: whole,
    stake: whole,
    deposit: whole,
    locked: whole,
    drilled: whole.meta({ description: 'R_D, µut a day.' }),
    trained: whole.meta({ description: 'R_T, µut a day.' }),
    capacity: whole,
    round: whole.meta({ description: 'The last round of scores that it published; 0 if none.' }),
    roundRoot: hash,
  })
  .openapi('Account')

export const accountProofSchema = z
  .object({
    ...proven,
    place: listPlace,
    key: lightProofSchema,
    purse: lightProofSchema.meta({ description: 'Nonce and balance.' }),
    round: lightProofSchema,
    roundRoot: lightProofSchema,
  })
  .openapi('AccountProof')

export const boxScoreSchema = z
  .object({
    box: accountKey,
    ...proven,
    place: listPlace,
    account: accountKey.nullable().meta({ description: 'Whose box it is; null where it was removed.' }),
    score: whole,
    capacity: whole,
    reports: z
      .array(z.object({ validator: accountKey, epoch: whole, score: whole, certificate: hash }))
      .readonly()
      .meta({ description: 'The latest word of each validator.' }),
    keyProof: lightProofSchema,
    scoreProof: lightProofSchema,
  })
  .openapi('BoxScore')

export const newTxSchema = z
  .strictObject({ transaction: z.string().regex(/^([0-9a-f]{2}){1,131072}$/) })
  .openapi('NewTransaction')
export const submittedSchema = z.object({ id: hash, isNew: z.boolean() }).openapi('Submitted')
export const heightSchema = z.object({ height: z.int() }).openapi('Height')
export const nodeHealthSchema = z.object({ ok: z.boolean(), program: z.string() }).openapi('NodeHealth')
