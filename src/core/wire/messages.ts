import { ascii, concatBytes, u32le, u64le } from '../bytes/bytes.ts'
import { KEY_BYTES, SIGNATURE_BYTES } from '../bytes/ed25519.ts'
import { printable } from '../bytes/printable.ts'
import { type ByteReader, DecodeError } from '../bytes/reader.ts'
import { HOST_TARGETS, MARK_BYTES, MAX_LANES, MAX_MARKS } from '../params/hostParts.ts'

/** Changes whenever a byte on this wire changes. */
const WIRE_VERSION = 5
/** Of a work that is watched: what traces commit to, which patches are drawn and what they show is part of it. */
const WORK_WIRE_VERSION = 7

/** How one value stands in the body of a message. */
interface Field<T> {
  readonly mostBytes: number
  write(value: T): Uint8Array
  read(reader: ByteReader, name: string): T
}

const u32: Field<number> = { mostBytes: 4, write: u32le, read: (reader, name) => reader.u32(name) }

/** A place in a tensor, which may have more elements than 32 bits count. */
const place: Field<number> = {
  mostBytes: 8,
  write: u64le,
  read: (reader, name) => {
    const [low, high] = [reader.u32(name), reader.u32(name)]
    const value = high * 2 ** 32 + low
    if (!Number.isSafeInteger(value)) throw new DecodeError(`${name}: no place in a tensor`)
    return value
  },
}

const bytes = (length: number): Field<Uint8Array> => ({
  mostBytes: length,
  write: (value) => value,
  read: (reader, name) => reader.bytes(length, name),
})

/** Whatever is left of the body. */
const rest = (mostBytes: number): Field<Uint8Array> => ({
  mostBytes,
  write: (value) => value,
  read: (reader, name) => reader.rest(name),
})

const oneOf = <T>(all: readonly T[]): Field<T> => ({
  mostBytes: 1,
  write: (value) => Uint8Array.of(all.indexOf(value)),
  read: (reader, name) => {
    const index = reader.u8(name)
    if (index >= all.length) throw new DecodeError(`${name}: ${index} is not known`)
    return all[index]!
  },
})

/** The marks of each lane in order, MARK_BYTES each. */
const marksOfLanes: Field<readonly Uint8Array[]> = {
  mostBytes: 1 + MAX_LANES * (1 + MAX_MARKS * MARK_BYTES),
  write: (lanes) =>
    concatBytes(
      Uint8Array.of(lanes.length - 1),
      ...lanes.flatMap((marks) => [Uint8Array.of(marks.length / MARK_BYTES), marks]),
    ),
  read: (reader, name) =>
    Array.from({ length: reader.u8(name) + 1 }, () => {
      const marks = reader.u8('marks')
      if (marks > MAX_MARKS) throw new DecodeError(`marks: at most ${MAX_MARKS}, got ${marks}`)
      return reader.bytes(marks * MARK_BYTES, 'marks')
    }),
}

interface Codec<V> {
  readonly id: number
  /** Largest body in bytes; a longer frame is refused before it is read. */
  readonly limit: number
  encode(values: V): Uint8Array
  decode(reader: ByteReader): V
}

/** A body of these fields, in this order. */
function message<V extends object>(id: number, fields: { readonly [K in keyof V]: Field<V[K]> }): Codec<V> {
  const names = Object.keys(fields) as (keyof V & string)[]
  return {
    id,
    limit: names.reduce((sum, name) => sum + fields[name].mostBytes, 0),
    encode: (values) => concatBytes(...names.map((name) => fields[name].write(values[name]))),
    decode: (reader) => Object.fromEntries(names.map((name) => [name, fields[name].read(reader, name)])) as V,
  }
}

/** The first message of each side: whoever speaks another version is refused by its first byte. */
const versioned = <V>({ id, limit, encode, decode }: Codec<V>, spoken = WIRE_VERSION): Codec<V> => ({
  id,
  limit: 1 + limit,
  encode: (values) => concatBytes(Uint8Array.of(spoken), encode(values)),
  decode: (reader) => {
    const version = reader.u8('wire version')
    if (version !== spoken) throw new DecodeError(`wire version: ${spoken} expected, got ${version}`)
    return decode(reader)
  },
})

const FAULT_BYTES = 512

/** A code, and after a blank what a person may read. */
const fault = (id: number): Codec<{ readonly code: string; readonly text: string }> => ({
  id,
  limit: FAULT_BYTES,
  encode: ({ code, text }) => ascii(printable(text === '' ? code : `${code} ${text}`, FAULT_BYTES)),
  decode: (reader) => {
    const words = printable(String.fromCharCode(...reader.rest('fault')), FAULT_BYTES)
    const [, code, text = ''] = /^([A-Z][A-Z0-9_]{0,39})(?: (.*))?$/.exec(words) ?? []
    if (code === undefined) throw new DecodeError('fault: no code')
    return { code, text }
  },
})

/** Host parts (§12), beside whatever else is under way. */
const HOST_ORDERS = {
  store: message(8, { target: oneOf(HOST_TARGETS), seed: bytes(32), blocks: u32, lanes: u32 }),
  walk: message(9, { nonce: bytes(32), lanes: u32, stride: u32 }),
  halt: message(10, {}),
}

/** Pieces of tensors travel in messages of at most this. */
export const PIECE_BYTES = 2 ** 20
/** Roots of 100,000 steps, or the leaves of the largest patch: both stay below. */
const MOST_WORK_BYTES = 4 * 2 ** 20
/** A sumcheck of the longest rows (W8.4.4). */
const MOST_PROOF_BYTES = 592

/** Two bundles of 32 devices stay below. */
const MOST_EVIDENCE_BYTES = 2 ** 20

/** Nodes of a tree that a dispute asks for at once. */
const MOST_NODES = 16
/** W4.1. */
const LEAF_BYTES = 1024
/** W5.4. An output of a step of a segment, which is counted from 1: 0 is the beginning. */
const output = { segment: u32, transition: u32, step: u32, output: u32 }

/** A work that is watched (W4.6): what the listener says. Provers of cards are never sent these. */
const WORK_ORDERS = {
  greet: versioned(message(32, {}), WORK_WIRE_VERSION),
  /** The nonces are committed to before anything is done: their hashes. */
  assign: message(33, {
    ...{ isHidden: oneOf([false, true]), firstHash: bytes(32), secondHash: bytes(32), orderId: bytes(32), every: u32 },
    /** Which products of drawn transitions are to be proven (W12.5); null: of none. */
    proven: oneOf([null, 'shared', 'all'] as const),
    spec: rest(65_536),
  }),
  give: message(34, { input: u32, bytes: rest(PIECE_BYTES) }),
  /** T0. */
  seed: message(35, { seed: bytes(32) }),
  /** Once all replicas have committed. */
  unveil: message(36, {}),
  draw: message(37, { nonce: bytes(32) }),
  /** In the place of draws: a product is to be proven as a whole (W8.8). */
  prove: message(38, {}),
  /** Before the seed, and once everything was executed: the device is to sign that it was there (W11). */
  vouch: message(39, {}),
  /** Questions of a dispute (W5.4), asked of replicas alone. */
  askTrace: message(40, { segment: u32 }),
  askNodes: message(41, { ...output, level: u32, from: place, count: u32 }),
  askLeaf: message(42, { ...output, leaf: place }),
  askPatch: message(43, { segment: u32, transition: u32, step: u32, patch: place }),
}

const ALL_ORDERS = {
  hello: versioned(message(1, {})),
  ping: message(2, { token: bytes(8) }),
  challenge: message(3, { bytes: rest(16_384) }),
  start: message(4, { part: u32, s: bytes(32) }),
  passes: message(5, { part: u32, z: bytes(32) }),
  reveal: message(6, { part: u32, nonce: bytes(32) }),
  finish: message(7, {}),
  /** §9: only where every device says that it attests, so that a prover without it is never asked. */
  attest: message(11, {}),
  /** Which devices there are: nothing is opened before it, so whoever gives up after the welcome costs them nothing. */
  list: message(12, {}),
  ...HOST_ORDERS,
}

const HOST_ANSWERS = {
  /** `pastCache`: whether the box says that reads go past the cache of its system. */
  stored: message(73, { pastCache: oneOf([false, true]) }),
  walked: message(74, { lanes: marksOfLanes }),
  /** A fault of a host part: the cards' run goes on. */
  unable: fault(75),
}

const ALL_ANSWERS = {
  welcome: versioned(message(65, { key: bytes(KEY_BYTES) })),
  pong: message(66, { token: bytes(8) }),
  ready: message(67, { signature: bytes(SIGNATURE_BYTES) }),
  root: message(68, { part: u32, device: u32, index: u32, root: bytes(32) }),
  // 4096 openings of the deepest tree: two paths of 20 and 12 nodes over the kept rounds.
  opened: message(69, { part: u32, device: u32, paths: rest(4096 * 32 * 52) }),
  result: message(70, { signature: bytes(SIGNATURE_BYTES) }),
  telemetry: message(71, { device: u32, sample: rest(4096) }),
  fault: fault(72),
  /** Empty where a device could not. */
  attested: message(76, { bundle: rest(MOST_EVIDENCE_BYTES) }),
  inventory: message(77, { inventory: rest(65_536) }),
  ...HOST_ANSWERS,
}

/** What whoever does the work says. Segments are counted from 1: 0 is the beginning. */
const WORK_ANSWERS = {
  greeted: versioned(message(96, { key: bytes(KEY_BYTES), device: rest(256) }), WORK_WIRE_VERSION),
  /** Whether it can prove transitions of this work, where it is asked to. */
  accepted: message(97, { provesSteps: oneOf([false, true]) }),
  mark: message(98, { segment: u32, root: bytes(32), statistics: rest(64) }),
  hidden: message(99, { segment: u32, commitment: bytes(32) }),
  piece: message(100, { segment: u32, tensor: u32, bytes: rest(PIECE_BYTES) }),
  executed: message(101, { signature: bytes(SIGNATURE_BYTES) }),
  unveiled: message(102, { salt: bytes(32) }),
  traced: message(103, { segment: u32, roots: rest(MOST_WORK_BYTES) }),
  patch: message(104, { segment: u32, index: u32, leafBytes: u32, bytes: rest(MOST_WORK_BYTES) }),
  proven: message(105, { proof: rest(MOST_PROOF_BYTES) }),
  /** Empty where it cannot. */
  vouched: message(106, { bundle: rest(MOST_EVIDENCE_BYTES) }),
  nodes: message(107, { hashes: rest(32 * MOST_NODES) }),
  leaf: message(108, { bytes: rest(LEAF_BYTES) }),
  /** W12.5. What is said of a drawn transition before the second nonce. */
  saidStep: message(109, { segment: u32, root: bytes(32), roots: rest(MOST_WORK_BYTES) }),
  /** How long its proof is; both parts of it follow in pieces, numbered as tensors are. */
  stepProof: message(110, { segment: u32, restBytes: u32, productsBytes: u32 }),
}

/** Every message there is. One frame is u32 length of what follows, u8 id, body. */
export const CODECS = { ...ALL_ORDERS, ...WORK_ORDERS, ...ALL_ANSWERS, ...WORK_ANSWERS }

type Said<C> = {
  readonly [T in keyof C]: C[T] extends Codec<infer V> ? { readonly type: T } & Readonly<V> : never
}[keyof C]

/** From validator to prover. */
export type Order = Said<typeof ALL_ORDERS>
export type HostOrder = Said<typeof HOST_ORDERS>
/** From prover to validator. Hostile until decoded, and then still only a claim. */
export type Answer = Said<typeof ALL_ANSWERS>
export type HostAnswer = Said<typeof HOST_ANSWERS>
export const isHostOrder = (order: Order): order is HostOrder => order.type in HOST_ORDERS
export const isHostAnswer = (answer: Answer): answer is HostAnswer => answer.type in HOST_ANSWERS
export type WorkOrderMessage = Said<typeof WORK_ORDERS>
/** Whoever works may give up too. */
export type WorkAnswer = Said<typeof WORK_ANSWERS & Pick<typeof ALL_ANSWERS, 'fault'>>
export type Message = Order | Answer | WorkOrderMessage | WorkAnswer
export type MessageType = Message['type']

/** What each side may say: anything else is refused by its decoder. */
export const ORDERS = Object.keys(ALL_ORDERS) as readonly Order['type'][]
export const ANSWERS = Object.keys(ALL_ANSWERS) as readonly Answer['type'][]
export const WORK_ORDER_TYPES = Object.keys(WORK_ORDERS) as readonly WorkOrderMessage['type'][]
export const WORK_ANSWER_TYPES = [...Object.keys(WORK_ANSWERS), 'fault'] as readonly WorkAnswer['type'][]
