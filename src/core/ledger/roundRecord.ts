import * as z from 'zod'
import { ascii, concatBytes } from '../bytes/bytes.ts'
import type { DeepReadonly } from '../bytes/decodeJson.ts'
import { checkSignature, type Signer } from '../bytes/ed25519.ts'
import { fromHex, toHex } from '../bytes/hex.ts'
import { sha256, taggedHash } from '../bytes/sha256.ts'
import { u32be, u64be } from '../chain/bigEndian.ts'
import { buildTree, HASH_BYTES, padRoots, pathOf, rootFrom } from '../proof/merkle.ts'

/** At most so many boxes in one round: a path then has at most 16 siblings. */
export const MOST_ENTRIES = 65_536

const hexOf = (bytes: number) => z.string().regex(new RegExp(`^[0-9a-f]{${2 * bytes}}$`))
const whole = z.int().min(0)

/** What a validator stands by of one box: its score, and the SHA-256 of the certificate that earned it. */
export const scoreEntry = z.strictObject({
  box: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/),
  score: whole,
  certificate: hexOf(32).nullable(),
})
export type ScoreEntry = DeepReadonly<z.infer<typeof scoreEntry>>

/** What the signature of a round covers. */
const sealed = {
  validator: hexOf(32),
  round: whole.min(1),
  /** Milliseconds since 1970; the last that a calendar has. */
  closedAtMs: whole.max(8.64e15),
  root: hexOf(32),
  signature: hexOf(64),
}

/** A whole round, signed: every box with its score. */
export const roundRecord = z.strictObject({
  format: z.literal('touchstone-round-1'),
  ...sealed,
  entries: z.array(scoreEntry).min(1).max(MOST_ENTRIES).readonly(),
})
export type RoundRecord = DeepReadonly<z.infer<typeof roundRecord>>

/** One entry of a round with its path to the root that the validator signed. */
export const scoreProof = z.strictObject({
  format: z.literal('touchstone-score-1'),
  ...sealed,
  count: whole.min(1).max(MOST_ENTRIES),
  entry: scoreEntry,
  place: whole,
  path: z.array(hexOf(32)).max(16).readonly(),
})
export type ScoreProof = DeepReadonly<z.infer<typeof scoreProof>>

export type RoundProblem = 'ORDER' | 'ROOT' | 'PLACE' | 'PATH' | 'SIGNATURE'

const NO_CERTIFICATE = '00'.repeat(32)
const bytesOf = (hex: string): Uint8Array => fromHex(hex, hex.length / 2)!

/** L2. The hash of an entry: it names its validator and its round, so that it proves nothing about another. */
export const scoreLeaf = ({ validator, round }: Named, { box, score, certificate }: ScoreEntry): Uint8Array =>
  sha256(
    Uint8Array.of(0),
    ascii('touchstone/score/1'),
    bytesOf(validator),
    u64be(BigInt(round)),
    Uint8Array.of(box.length),
    ascii(box),
    u64be(BigInt(score)),
    bytesOf(certificate ?? NO_CERTIFICATE),
  )

type Named = Pick<RoundRecord, 'validator' | 'round'>

const treeOf = (named: Named, entries: readonly ScoreEntry[]) =>
  buildTree(padRoots(entries.map((entry) => scoreLeaf(named, entry))))

/** L4. What the validator signs. */
const roundMessage = ({ validator, round, closedAtMs, root }: Sealed, count: number): Uint8Array =>
  taggedHash(
    'touchstone/round/1',
    bytesOf(validator),
    u64be(BigInt(round)),
    u64be(BigInt(closedAtMs)),
    u32be(count),
    bytesOf(root),
  )

type Sealed = Pick<RoundRecord, 'validator' | 'round' | 'closedAtMs' | 'root' | 'signature'>

const byBox = ({ box: a }: ScoreEntry, { box: b }: ScoreEntry): number => (a < b ? -1 : a > b ? 1 : 0)

/** Closes a round: the entries in their only order, the root over them, and the signature of the validator. */
export function sealRound(
  { round, closedAtMs, entries }: Pick<RoundRecord, 'round' | 'closedAtMs' | 'entries'>,
  signer: Signer,
): RoundRecord {
  const validator = toHex(signer.publicKey)
  const sorted = [...entries].sort(byBox)
  const root = toHex(treeOf({ validator, round }, sorted).at(-1)![0]!)
  const unsigned = { format: 'touchstone-round-1' as const, validator, round, closedAtMs, root, signature: '' }
  const signature = toHex(signer.sign(roundMessage(unsigned, sorted.length)))
  return { ...unsigned, signature, entries: sorted }
}

const isSigned = (sealed: Sealed, count: number): boolean =>
  checkSignature(bytesOf(sealed.signature), roundMessage(sealed, count), bytesOf(sealed.validator))

/** Why a record is not what its validator signed, or null. Whether that validator is to be trusted is for the reader to say. */
export function checkRound(record: RoundRecord): RoundProblem | null {
  const { entries, root } = record
  if (entries.some((entry, i) => i > 0 && byBox(entries[i - 1]!, entry) >= 0)) return 'ORDER'
  if (toHex(treeOf(record, entries).at(-1)![0]!) !== root) return 'ROOT'
  return isSigned(record, entries.length) ? null : 'SIGNATURE'
}

/** The proof of one box's score, or null where the round does not name it. */
export function proveScore(record: RoundRecord, box: string): ScoreProof | null {
  const { entries, format: _, ...sealed } = record
  const place = entries.findIndex((entry) => entry.box === box)
  if (place === -1) return null
  const siblings = toHex(pathOf(treeOf(record, entries), place)).match(/.{64}/g) ?? []
  return {
    format: 'touchstone-score-1',
    ...sealed,
    count: entries.length,
    entry: entries[place]!,
    place,
    path: [...siblings],
  }
}

/** Why a proof does not show that its validator signed this score, or null. The depth follows from the count, never from the proof. */
export function checkScoreProof(proof: ScoreProof): RoundProblem | null {
  const { entry, place, path, count, root } = proof
  if (place >= count || path.length !== Math.ceil(Math.log2(count))) return 'PLACE'
  const reached = rootFrom(scoreLeaf(proof, entry), place, concatBytes(...path.map(bytesOf)))
  if (reached.length !== HASH_BYTES || toHex(reached) !== root) return 'PATH'
  return isSigned(proof, count) ? null : 'SIGNATURE'
}
