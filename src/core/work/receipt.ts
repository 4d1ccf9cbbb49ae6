import * as z from 'zod'
import { fromBase64, toBase64 } from '../bytes/base64.ts'
import { concatBytes, u32le } from '../bytes/bytes.ts'
import type { DeepReadonly } from '../bytes/decodeJson.ts'
import { base64, count, hex, instant, shortText } from '../bytes/fields.ts'
import { fromHex, toHex } from '../bytes/hex.ts'
import { HASH_BYTES } from '../proof/merkle.ts'
import { joinRoots, type SegmentEvidence, splitRoots } from './checkSegment.ts'
import type { StateMark } from './stateChain.ts'
import { MAX_SPEC_BYTES } from './workSpec.ts'

export const WORK_TYPE = 'urn:touchstone:work:1'

const MAX_SEGMENTS = 4096
const MAX_PATCHES = 4096

const segment = z.strictObject({
  /** -1 is the beginning. */
  segment: z.int().min(-1),
  roots: base64,
  patches: z.array(z.strictObject({ leaves: base64, proof: base64 })).max(MAX_PATCHES),
})

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
}

/** Whom such a receipt is about. */
export const workSubject = z.tuple([
  z.strictObject({ name: z.literal('work'), digest: z.strictObject({ sha256: hex(32) }) }),
  z.strictObject({ name: z.literal('prover'), digest: z.strictObject({ ed25519: hex(32) }) }),
])

const predicate = z.strictObject({
  ...workFacts,
  /** Who drew: the device itself, or a listener who had committed to the nonces and signs this. */
  drawnBy: z.enum(['device', 'listener']),
  firstRoot: hex(32),
  /** Of every committed state, in order: its root, and its figures as bits. */
  roots: base64,
  statistics: base64,
  nonces: z.tuple([hex(32), hex(32)]),
  segments: z.array(segment).max(MAX_SEGMENTS),
  /** From the seed to the last h, by the listener's clock; null where nobody listened. */
  elapsedUs: count.nullable(),
})

/** The statement of a receipt: what was computed, and the evidence for it. */
export const receiptSchema = z.strictObject({
  _type: z.literal('https://in-toto.io/Statement/v1'),
  subject: workSubject,
  predicateType: z.literal(WORK_TYPE),
  predicate,
})

export type ReceiptStatement = DeepReadonly<z.infer<typeof receiptSchema>>

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
export interface Receipt extends WorkFacts {
  readonly drawnBy: 'device' | 'listener'
  readonly firstRoot: Uint8Array
  readonly marks: readonly Omit<StateMark, 'transition'>[]
  readonly nonces: readonly [Uint8Array, Uint8Array]
  readonly segments: ReadonlyMap<number, SegmentEvidence>
  readonly elapsedUs: number | null
}

export function stateReceipt(receipt: Receipt): ReceiptStatement {
  const { workId, proverKey, marks, segments, nonces, orderId, seed, firstRoot } = receipt
  const { program, startedAt, issuedAt, notAfter, device, spec, drawnBy, elapsedUs } = receipt
  return {
    _type: 'https://in-toto.io/Statement/v1',
    subject: [
      { name: 'work', digest: { sha256: toHex(workId) } },
      { name: 'prover', digest: { ed25519: toHex(proverKey) } },
    ],
    predicateType: WORK_TYPE,
    predicate: {
      ...{ program, startedAt, issuedAt, notAfter, device, spec },
      orderId: toHex(orderId),
      seed: toHex(seed),
      drawnBy,
      firstRoot: toHex(firstRoot),
      roots: toBase64(joinRoots(marks.map(({ root }) => root))),
      statistics: toBase64(concatBytes(...marks.flatMap(({ statistics }) => statistics.map(u32le)))),
      nonces: [toHex(nonces[0]), toHex(nonces[1])],
      segments: [...segments].map(([number, { roots, patches }]) => ({
        segment: number,
        roots: toBase64(joinRoots(roots)),
        patches: patches.map(({ leaves, proof }) => ({ leaves: toBase64(leaves), proof: toBase64(proof) })),
      })),
      elapsedUs,
    },
  }
}

/** Null where a field is not what its place asks for. */
export function receiptOf({ subject, predicate: said }: ReceiptStatement): Receipt | null {
  const roots = rootsIn(said.roots)
  const statistics = fromBase64(said.statistics)
  const segments = said.segments.map(segmentOf)
  if (!roots || !statistics || statistics.length % 4 !== 0 || segments.some((one) => one === null)) return null
  // A segment that is there twice would say two things.
  if (new Set(said.segments.map(({ segment }) => segment)).size < segments.length) return null
  const perMark = statistics.length / 4 / Math.max(roots.length, 1)
  if (!Number.isInteger(perMark)) return null
  const view = new DataView(statistics.buffer, statistics.byteOffset, statistics.byteLength)
  const bitsOf = (mark: number) =>
    Array.from({ length: perMark }, (_, i) => view.getUint32(4 * (mark * perMark + i), true))
  const { program, startedAt, issuedAt, notAfter, device, spec, drawnBy, elapsedUs } = said
  const bytes = (text: string) => fromHex(text, HASH_BYTES)!
  return {
    ...{ program, startedAt, issuedAt, notAfter, device, spec, drawnBy, elapsedUs },
    workId: bytes(subject[0].digest.sha256),
    proverKey: bytes(subject[1].digest.ed25519),
    orderId: bytes(said.orderId),
    seed: bytes(said.seed),
    firstRoot: bytes(said.firstRoot),
    marks: roots.map((root, mark) => ({ root, statistics: bitsOf(mark) })),
    nonces: [bytes(said.nonces[0]), bytes(said.nonces[1])],
    segments: new Map(segments as [number, SegmentEvidence][]),
  }
}

function rootsIn(text: string): readonly Uint8Array[] | null {
  const bytes = fromBase64(text)
  return bytes && bytes.length % HASH_BYTES === 0 ? splitRoots(bytes) : null
}

function segmentOf(said: DeepReadonly<z.infer<typeof segment>>): [number, SegmentEvidence] | null {
  const roots = rootsIn(said.roots)
  const patches = said.patches.map(({ leaves, proof }) => ({ leaves: fromBase64(leaves), proof: fromBase64(proof) }))
  if (!roots || patches.some(({ leaves, proof }) => !leaves || !proof)) return null
  return [said.segment, { roots, patches: patches as { leaves: Uint8Array; proof: Uint8Array }[] }]
}
