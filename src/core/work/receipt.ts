import * as z from 'zod'
import type { DeepReadonly } from '../bytes/decodeJson.ts'
import { count, hex, instant, shortText } from '../bytes/fields.ts'
import { fromHex, toHex } from '../bytes/hex.ts'
import { HASH_BYTES } from '../proof/merkle.ts'
import { describeEvidence, evidenceBehind, provenBehind, type Stated } from './evidenceBehind.ts'
import type { ProvenWork } from './methods/step/provenWork.ts'
import { decodeOpened, decodeProven, encodeOpened, encodeProven, type OpenedWork } from './receiptBytes.ts'
import { MAX_SPEC_BYTES } from './workSpec.ts'

export const WORK_TYPE = 'urn:touchstone:work:2'
/** W12.5. Of a work some of whose transitions were proven besides. */
export const PROVEN_TYPE = 'urn:touchstone:proven-work:1'

/** What every receipt of a work says first, however the work was shown to be right. */
export const workFacts = {
  program: shortText,
  startedAt: instant,
  issuedAt: instant,
  notAfter: instant,
  /** What the device says of itself: shown, never counted. */
  device: shortText,
  spec: z.string().max(MAX_SPEC_BYTES),
  orderId: hex(32),
  seed: hex(32),
  evidence: evidenceBehind,
}

/** Whom such a receipt is about. */
export const workSubject = z.tuple([
  z.strictObject({ name: z.literal('work'), digest: z.strictObject({ sha256: hex(32) }) }),
  z.strictObject({ name: z.literal('prover'), digest: z.strictObject({ ed25519: hex(32) }) }),
])

const predicate = {
  ...workFacts,
  /** Who drew: the device itself, or a listener who had committed to the nonces and signs this. */
  drawnBy: z.enum(['device', 'listener']),
  firstRoot: hex(32),
  nonces: z.tuple([hex(32), hex(32)]),
  /** From the seed to the last h, by the listener's clock; null where nobody listened. */
  elapsedUs: count.nullable(),
}

const statement = { _type: z.literal('https://in-toto.io/Statement/v1'), subject: workSubject }

/** The statement of a receipt: what was computed, and what the evidence for it hashes to. */
export const receiptSchema = z.strictObject({
  ...statement,
  predicateType: z.literal(WORK_TYPE),
  predicate: z.strictObject(predicate),
})

/** W12.5. The same where transitions were proven, and which products of them. */
export const provenSchema = z.strictObject({
  ...statement,
  predicateType: z.literal(PROVEN_TYPE),
  predicate: z.strictObject({ ...predicate, evidence: provenBehind, products: z.enum(['shared', 'all']) }),
})

export type ReceiptStatement = DeepReadonly<z.infer<typeof receiptSchema> | z.infer<typeof provenSchema>>

/** Subject and facts of a receipt, as values. */
export interface WorkFacts {
  readonly workId: Uint8Array
  readonly proverKey: Uint8Array
  readonly program: string
  readonly startedAt: string
  readonly issuedAt: string
  readonly notAfter: string
  readonly device: string
  readonly spec: string
  readonly orderId: Uint8Array
  readonly seed: Uint8Array
}

/** What a receipt holds, as values. */
export interface Receipt extends WorkFacts, OpenedWork {
  readonly drawnBy: 'device' | 'listener'
  readonly firstRoot: Uint8Array
  readonly nonces: readonly [Uint8Array, Uint8Array]
  readonly elapsedUs: number | null
  /** Transitions that were proven besides. */
  readonly proven?: ProvenWork
}

export function stateReceipt(receipt: Receipt): Stated<ReceiptStatement> {
  const { workId, proverKey, nonces, orderId, seed, firstRoot } = receipt
  const { program, startedAt, issuedAt, notAfter, device, spec, drawnBy, elapsedUs, proven } = receipt
  const evidence = proven ? encodeProven(receipt, proven.steps) : encodeOpened(receipt)
  const subject: ReceiptStatement['subject'] = [
    { name: 'work', digest: { sha256: toHex(workId) } },
    { name: 'prover', digest: { ed25519: toHex(proverKey) } },
  ]
  const about = { _type: 'https://in-toto.io/Statement/v1', subject } as const
  const predicate = {
    ...{ program, startedAt, issuedAt, notAfter, device, spec },
    orderId: toHex(orderId),
    seed: toHex(seed),
    evidence: describeEvidence(evidence),
    drawnBy,
    firstRoot: toHex(firstRoot),
    nonces: [toHex(nonces[0]), toHex(nonces[1])] as const,
    elapsedUs,
  }
  const statement: ReceiptStatement = proven
    ? { ...about, predicateType: PROVEN_TYPE, predicate: { ...predicate, products: proven.products } }
    : { ...about, predicateType: WORK_TYPE, predicate }
  return { statement, evidence }
}

/** Null where the evidence, whose hash was compared, is not spelled as it must be. */
export function receiptOf({ subject, predicate: said }: ReceiptStatement, evidence: Uint8Array): Receipt | null {
  const opened = 'products' in said ? provenIn(said.products, evidence) : decodeOpened(evidence)
  const { program, startedAt, issuedAt, notAfter, device, spec, drawnBy, elapsedUs } = said
  const bytes = (text: string) => fromHex(text, HASH_BYTES)!
  return (
    opened && {
      ...{ program, startedAt, issuedAt, notAfter, device, spec, drawnBy, elapsedUs, ...opened },
      workId: bytes(subject[0].digest.sha256),
      proverKey: bytes(subject[1].digest.ed25519),
      orderId: bytes(said.orderId),
      seed: bytes(said.seed),
      firstRoot: bytes(said.firstRoot),
      nonces: [bytes(said.nonces[0]), bytes(said.nonces[1])],
    }
  )
}

function provenIn(
  products: ProvenWork['products'],
  evidence: Uint8Array,
): Pick<Receipt, keyof OpenedWork | 'proven'> | null {
  const found = decodeProven(evidence)
  if (!found) return null
  const { steps, ...opened } = found
  return { ...opened, proven: { products, steps } }
}
