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
    drilledTotal: whole.meta({ description: 'All credit ever, µut.' }),
    failed: whole.meta({ description: 'F_D, µut a day.' }),
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

/** Projects, or works, of one answer. */
export const MOST_LISTED = 1_024
export const STATUSES = ['proposed', 'live', 'refused'] as const
export const ORIGINS = ['drawn', 'redrawn', 'audit', 'fresh'] as const
export const MARKS = ['none', 'late', 'dissent', 'fraud', 'valid'] as const

const projectSchema = z
  .object({
    project: z.int(),
    kind: z.int(),
    status: z.enum(STATUSES),
    owner: accountKey.nullable().meta({ description: 'Null for project 0, which is of the genesis.' }),
    work: whole.meta({ description: 'µut of one task at full live share and utility 1.' }),
    depth: z.int().meta({ description: 'Its result has 2^depth chunks.' }),
    utility: z.number(),
    queued: whole.meta({ description: 'Tasks ever published; project 0 needs none.' }),
    taken: whole.meta({ description: 'Tasks ever drawn.' }),
    about: z.string(),
  })
  .openapi('Project')

export const projectsSchema = z
  .object({ block: placeSchema, count: z.int(), projects: z.array(projectSchema).readonly() })
  .openapi('Projects')

const work = {
  id: hash,
  project: z.int(),
  work: whole.meta({ description: 'µut, utility included.' }),
  depth: z.int(),
  epoch: whole.meta({ description: 'Of the draw.' }),
  due: z.enum(['commit', 'reveal', 'wait', 'open', 'appeal']),
  accounts: z.array(accountKey).readonly(),
  committed: z.int(),
  revealed: z.int(),
}

export const worksSchema = z
  .object({ block: placeSchema, count: z.int(), works: z.array(z.object(work)).readonly() })
  .openapi('Works')

export const workSchema = z
  .object({
    ...work,
    block: placeSchema,
    seed: hash,
    replicas: z
      .array(
        z.object({
          account: accountKey,
          origin: z.enum(ORIGINS),
          drawn: whole.meta({ description: 'In which epoch.' }),
          commitment: hash.nullable(),
          result: hash.nullable().meta({ description: 'The root of the result, once it was revealed.' }),
          live: z.number(),
          hasOpened: z.boolean(),
          mark: z.enum(MARKS),
          work: whole,
        }),
      )
      .readonly(),
  })
  .openapi('Work')

export const newTxSchema = z
  .strictObject({ transaction: z.string().regex(/^([0-9a-f]{2}){1,131072}$/) })
  .openapi('NewTransaction')
export const submittedSchema = z.object({ id: hash, isNew: z.boolean() }).openapi('Submitted')
export const heightSchema = z.object({ height: z.int() }).openapi('Height')
export const nodeHealthSchema = z.object({ ok: z.boolean(), program: z.string() }).openapi('NodeHealth')
