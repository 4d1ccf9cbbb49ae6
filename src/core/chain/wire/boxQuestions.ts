import { ContainerType, ListBasicType, ListCompositeType, type Type, type ValueOf } from '@chainsafe/ssz'
import { concatBytes } from '../../bytes/bytes.ts'
import { taggedHash } from '../../bytes/sha256.ts'
import { u32be, u64be } from '../bigEndian.ts'
import { Bytes32, Bytes64, Bytes80, decodeExactly, U8, U32, U64 } from '../ssz.ts'

/** Chunks of a check that a validator has opened. */
export const MOST_OPENED = 8
/** Boxes that one node answers for. */
const MOST_BOXES = 16
const MOST_DEPTH = 32

const CheckType = new ContainerType({
  validator: Bytes32,
  epoch: U64,
  vrfProof: Bytes80,
  box: Bytes32,
  seed: Bytes32,
  depth: U8,
  sig: Bytes64,
})
const OpenType = new ContainerType({ box: Bytes32, seed: Bytes32, indices: new ListBasicType(U32, MOST_OPENED) })
const WitnessType = new ContainerType({ box: Bytes32, epoch: U64, validator: Bytes32, certificate: Bytes32 })

export type BoxCheck = ValueOf<typeof CheckType>
export type BoxOpen = ValueOf<typeof OpenType>
export type BoxWitness = ValueOf<typeof WitnessType>

/** What a validator asks about boxes (§4.5): who has which, a product from a seed, some of its chunks, a signature. */
export type BoxQuestion =
  | { readonly kind: 'boxes' }
  | ({ readonly kind: 'check' } & BoxCheck)
  | ({ readonly kind: 'open' } & BoxOpen)
  | ({ readonly kind: 'witness' } & BoxWitness)

/** The first byte: those below are questions about the chain. */
const TAG = { boxes: 5, check: 6, open: 7, witness: 8 } as const

export const isBoxQuestion = (bytes: Uint8Array): boolean => (bytes[0] ?? 0) >= TAG.boxes

const tagged = <V>(tag: number, type: Type<V>, value: V): Uint8Array =>
  concatBytes(Uint8Array.of(tag), type.serialize(value))

export function encodeBoxQuestion(question: BoxQuestion): Uint8Array {
  switch (question.kind) {
    case 'boxes':
      return Uint8Array.of(TAG.boxes)
    case 'check':
      return tagged(TAG.check, CheckType, question)
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
  if (bytes[0] === TAG.open) return read('open', OpenType)
  return bytes[0] === TAG.witness ? read('witness', WitnessType) : null
}

/** What a validator signs, so that nobody else makes a box work. */
export const checkMessage = (
  genesisHash: Uint8Array,
  { validator, epoch, box, seed, depth }: Omit<BoxCheck, 'sig' | 'vrfProof'>,
): Uint8Array => taggedHash('ts1/check', genesisHash, validator, u64be(epoch), box, seed, u32be(depth))

const BoxesType = new ListCompositeType(Bytes32, MOST_BOXES)
const OpenedType = new ListCompositeType(
  new ContainerType({ bytes: Bytes32, path: new ListCompositeType(Bytes32, MOST_DEPTH) }),
  MOST_OPENED,
)
export type OpenedChunks = ValueOf<typeof OpenedType>

/** What a node says that has nothing to say: no box, not now, not to you. */
export const NO_ANSWER = new Uint8Array(0)
/** Another validator is served: no word about the box, and worth another try. */
export const BUSY = Uint8Array.of(1)

export const encodeBoxes = (keys: readonly Uint8Array[]): Uint8Array => BoxesType.serialize([...keys])
export const decodeBoxes = (bytes: Uint8Array): Uint8Array[] | null => decodeExactly(BoxesType, bytes)
export const encodeOpened = (opened: OpenedChunks): Uint8Array => OpenedType.serialize(opened)
export const decodeOpened = (bytes: Uint8Array): OpenedChunks | null => decodeExactly(OpenedType, bytes)
