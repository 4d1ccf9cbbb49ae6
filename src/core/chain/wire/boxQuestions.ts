import { ContainerType, ListCompositeType, type Type, type ValueOf } from '@chainsafe/ssz'
import { ascii, concatBytes } from '../../bytes/bytes.ts'
import { taggedHash } from '../../bytes/sha256.ts'
import { u64be } from '../bigEndian.ts'
import { Bytes32, Bytes64, Bytes80, decodeExactly, U8, U32, U64 } from '../ssz.ts'

/** Chunks of a check that a validator has opened. */
export const MOST_OPENED = 8
/** Boxes that one node answers for. */
const MOST_BOXES = 4
const MOST_DEPTH = 32

const CheckType = new ContainerType({
  validator: Bytes32,
  epoch: U64,
  vrfProof: Bytes80,
  box: Bytes32,
  session: Bytes32,
  sig: Bytes64,
})
const RoundType = new ContainerType({ box: Bytes32, session: Bytes32, seed: Bytes32, depth: U8 })
const PlaceType = new ContainerType({ seed: Bytes32, index: U32 })
const OpenType = new ContainerType({
  box: Bytes32,
  session: Bytes32,
  places: new ListCompositeType(PlaceType, MOST_OPENED),
})
const WitnessType = new ContainerType({ box: Bytes32, session: Bytes32, certificate: Bytes32 })

export type BoxCheck = ValueOf<typeof CheckType>
export type BoxRound = ValueOf<typeof RoundType>
export type BoxOpen = ValueOf<typeof OpenType>
export type BoxWitness = ValueOf<typeof WitnessType>

/**
 * What a validator asks about boxes (§4.5): who has which, whether it may check one, and under the secret name of that
 * check a product from a seed, some chunks of its products, a signature.
 */
export type BoxQuestion =
  | { readonly kind: 'boxes' }
  | ({ readonly kind: 'check' } & BoxCheck)
  | ({ readonly kind: 'round' } & BoxRound)
  | ({ readonly kind: 'open' } & BoxOpen)
  | ({ readonly kind: 'witness' } & BoxWitness)

/** The first byte: those below are questions about the chain. */
const TAG = { boxes: 5, check: 6, round: 7, open: 8, witness: 9 } as const

export const isBoxQuestion = (bytes: Uint8Array): boolean => (bytes[0] ?? 0) >= TAG.boxes

const tagged = <V>(tag: number, type: Type<V>, value: V): Uint8Array =>
  concatBytes(Uint8Array.of(tag), type.serialize(value))

export function encodeBoxQuestion(question: BoxQuestion): Uint8Array {
  switch (question.kind) {
    case 'boxes':
      return Uint8Array.of(TAG.boxes)
    case 'check':
      return tagged(TAG.check, CheckType, question)
    case 'round':
      return tagged(TAG.round, RoundType, question)
    case 'open':
      return tagged(TAG.open, OpenType, question)
    case 'witness':
      return tagged(TAG.witness, WitnessType, question)
  }
}

/** A question, or null unless these bytes are its only spelling. */
export function decodeBoxQuestion(bytes: Uint8Array): BoxQuestion | null {
  const rest = bytes.subarray(1)
  const read = <K extends string, V>(kind: K, type: Type<V>) => {
    const value = decodeExactly(type, rest)
    return value === null ? null : { kind, ...value }
  }
  if (bytes[0] === TAG.boxes) return rest.length === 0 ? { kind: 'boxes' } : null
  if (bytes[0] === TAG.check) return read('check', CheckType)
  if (bytes[0] === TAG.round) return read('round', RoundType)
  if (bytes[0] === TAG.open) return read('open', OpenType)
  return bytes[0] === TAG.witness ? read('witness', WitnessType) : null
}

/** What a validator signs, so that nobody else makes a box work. */
export const checkMessage = (
  genesisHash: Uint8Array,
  { validator, epoch, box, session }: Omit<BoxCheck, 'sig' | 'vrfProof'>,
): Uint8Array => taggedHash('ts1/check', genesisHash, validator, u64be(epoch), box, session)

/** What a box signs to be asked at this peer: nobody else can take its place, or stand between. */
export const boxAtMessage = (genesisHash: Uint8Array, epoch: bigint, box: Uint8Array, peer: string): Uint8Array =>
  taggedHash('ts1/boxAt', genesisHash, u64be(epoch), box, ascii(peer))

const BoxesType = new ListCompositeType(new ContainerType({ box: Bytes32, sig: Bytes64 }), MOST_BOXES)
const OpenedType = new ListCompositeType(
  new ContainerType({ bytes: Bytes32, path: new ListCompositeType(Bytes32, MOST_DEPTH) }),
  MOST_OPENED,
)
export type BoxesHere = ValueOf<typeof BoxesType>
export type OpenedChunks = ValueOf<typeof OpenedType>

/** What a node says that has nothing to say: no box, not now, not to you. */
export const NO_ANSWER = new Uint8Array(0)
/** What a box says to a check that it lets happen. */
export const WELCOME = Uint8Array.of(1)

export const encodeBoxes = (boxes: BoxesHere): Uint8Array => BoxesType.serialize(boxes)
export const decodeBoxes = (bytes: Uint8Array): BoxesHere | null => decodeExactly(BoxesType, bytes)
export const encodeOpened = (opened: OpenedChunks): Uint8Array => OpenedType.serialize(opened)
export const decodeOpened = (bytes: Uint8Array): OpenedChunks | null => decodeExactly(OpenedType, bytes)
