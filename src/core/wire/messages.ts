import { ascii, concatBytes, u32le } from '../bytes/bytes.ts'
import { KEY_BYTES, SIGNATURE_BYTES } from '../bytes/ed25519.ts'
import { printable } from '../bytes/printable.ts'
import { type ByteReader, DecodeError } from '../bytes/reader.ts'
import { HOST_TARGETS, type HostTarget, MARK_BYTES, MAX_LANES, MAX_MARKS } from '../params/hostParts.ts'

/** Changes whenever a byte on this wire changes. */
export const WIRE_VERSION = 2

/** From validator to prover. */
export type Order =
  | { readonly type: 'hello' }
  | { readonly type: 'ping'; readonly token: Uint8Array }
  | { readonly type: 'challenge'; readonly bytes: Uint8Array }
  | { readonly type: 'start'; readonly part: number; readonly s: Uint8Array }
  | { readonly type: 'passes'; readonly part: number; readonly z: Uint8Array }
  | { readonly type: 'reveal'; readonly part: number; readonly nonce: Uint8Array }
  | { readonly type: 'finish' }
  | HostOrder

/** Host parts (§12), beside whatever else is under way. */
export type HostOrder =
  | {
      readonly type: 'store'
      readonly target: HostTarget
      readonly seed: Uint8Array
      readonly blocks: number
      readonly lanes: number
    }
  | { readonly type: 'walk'; readonly nonce: Uint8Array; readonly lanes: number; readonly stride: number }
  | { readonly type: 'halt' }

/** From prover to validator. Hostile until decoded, and then still only a claim. */
export type Answer =
  | { readonly type: 'welcome'; readonly key: Uint8Array; readonly inventory: Uint8Array }
  | { readonly type: 'pong'; readonly token: Uint8Array }
  | { readonly type: 'ready'; readonly signature: Uint8Array }
  | {
      readonly type: 'root'
      readonly part: number
      readonly device: number
      readonly index: number
      readonly root: Uint8Array
    }
  | { readonly type: 'opened'; readonly part: number; readonly device: number; readonly paths: Uint8Array }
  | { readonly type: 'result'; readonly signature: Uint8Array }
  | { readonly type: 'telemetry'; readonly device: number; readonly sample: Uint8Array }
  | { readonly type: 'fault'; readonly code: string; readonly text: string }
  | HostAnswer

export type HostAnswer =
  /** `pastCache`: whether the box says that reads go past the cache of its system. */
  | { readonly type: 'stored'; readonly pastCache: boolean }
  /** The marks of each lane in order, MARK_BYTES each. */
  | { readonly type: 'walked'; readonly lanes: readonly Uint8Array[] }
  /** A fault of a host part: the cards' run goes on. */
  | { readonly type: 'unable'; readonly code: string; readonly text: string }

export type Message = Order | Answer
export type MessageType = Message['type']

interface Codec<M extends Message> {
  readonly id: number
  /** Largest body in bytes; a longer frame is refused before it is read. */
  readonly limit: number
  encode(message: M): Uint8Array
  decode(reader: ByteReader): Omit<M, 'type'>
}

type Codecs = { readonly [T in MessageType]: Codec<Extract<Message, { type: T }>> }

const empty = { limit: 0, encode: () => new Uint8Array(0), decode: () => ({}) }

const token = (id: number) => ({
  id,
  limit: 8,
  encode: ({ token }: { token: Uint8Array }) => token,
  decode: (reader: ByteReader) => ({ token: reader.bytes(8, 'token') }),
})

const signature = (id: number) => ({
  id,
  limit: SIGNATURE_BYTES,
  encode: ({ signature }: { signature: Uint8Array }) => signature,
  decode: (reader: ByteReader) => ({ signature: reader.bytes(SIGNATURE_BYTES, 'signature') }),
})

const readFault = (reader: ByteReader) => {
  const bytes = reader.rest('fault')
  const text = printable(String.fromCharCode(...bytes), FAULT_BYTES)
  const split = text.indexOf(' ')
  const code = split < 0 ? text : text.slice(0, split)
  if (!/^[A-Z][A-Z0-9_]{0,39}$/.test(code)) throw new DecodeError('fault: no code')
  return { code, text: split < 0 ? '' : text.slice(split + 1) }
}

const FAULT_BYTES = 512

const faultCodec = (id: number) => ({
  id,
  limit: FAULT_BYTES,
  encode: ({ code, text }: { code: string; text: string }) =>
    ascii(printable(text === '' ? code : `${code} ${text}`, FAULT_BYTES - 3)),
  decode: readFault,
})

function readLanes(reader: ByteReader): { lanes: Uint8Array[] } {
  const count = reader.u8('lanes') + 1
  const lanes = Array.from({ length: count }, () => {
    const marks = reader.u8('marks')
    if (marks > MAX_MARKS) throw new DecodeError(`marks: at most ${MAX_MARKS}, got ${marks}`)
    return reader.bytes(marks * MARK_BYTES, 'marks')
  })
  return { lanes }
}

const encodeLanes = ({ lanes }: { lanes: readonly Uint8Array[] }): Uint8Array =>
  concatBytes(
    Uint8Array.of(lanes.length - 1),
    ...lanes.flatMap((marks) => [Uint8Array.of(marks.length / MARK_BYTES), marks]),
  )

const oneOf = <T>(all: readonly T[], index: number, what: string): T => {
  if (index >= all.length) throw new DecodeError(`${what}: ${index} is not known`)
  return all[index]!
}

/** One frame is u32 length of what follows, u8 id, body. All limits are fixed here. */
export const CODECS: Codecs = {
  hello: {
    id: 1,
    limit: 1,
    encode: () => Uint8Array.of(WIRE_VERSION),
    decode: (reader) => {
      const version = reader.u8('wire version')
      if (version !== WIRE_VERSION) throw new DecodeError(`wire version: ${WIRE_VERSION} expected, got ${version}`)
      return {}
    },
  },
  ping: token(2),
  challenge: {
    id: 3,
    limit: 16_384,
    encode: ({ bytes }) => bytes,
    decode: (reader) => ({ bytes: reader.rest('challenge') }),
  },
  start: {
    id: 4,
    limit: 36,
    encode: ({ part, s }) => concatBytes(u32le(part), s),
    decode: (reader) => ({ part: reader.u32('part'), s: reader.bytes(32, 'S') }),
  },
  passes: {
    id: 5,
    limit: 36,
    encode: ({ part, z }) => concatBytes(u32le(part), z),
    decode: (reader) => ({ part: reader.u32('part'), z: reader.bytes(32, 'Z') }),
  },
  reveal: {
    id: 6,
    limit: 36,
    encode: ({ part, nonce }) => concatBytes(u32le(part), nonce),
    decode: (reader) => ({ part: reader.u32('part'), nonce: reader.bytes(32, 'nonce') }),
  },
  finish: { id: 7, ...empty },
  store: {
    id: 8,
    limit: 1 + 32 + 8,
    encode: ({ target, seed, blocks, lanes }) =>
      concatBytes(Uint8Array.of(HOST_TARGETS.indexOf(target)), seed, u32le(blocks), u32le(lanes)),
    decode: (reader) => ({
      target: oneOf(HOST_TARGETS, reader.u8('target'), 'target'),
      seed: reader.bytes(32, 'seed'),
      blocks: reader.u32('blocks'),
      lanes: reader.u32('lanes'),
    }),
  },
  walk: {
    id: 9,
    limit: 32 + 8,
    encode: ({ nonce, lanes, stride }) => concatBytes(nonce, u32le(lanes), u32le(stride)),
    decode: (reader) => ({
      nonce: reader.bytes(32, 'nonce'),
      lanes: reader.u32('lanes'),
      stride: reader.u32('stride'),
    }),
  },
  halt: { id: 10, ...empty },
  welcome: {
    id: 65,
    limit: 1 + KEY_BYTES + 65_536,
    encode: ({ key, inventory }) => concatBytes(Uint8Array.of(WIRE_VERSION), key, inventory),
    decode: (reader) => {
      const version = reader.u8('wire version')
      if (version !== WIRE_VERSION) throw new DecodeError(`wire version: ${WIRE_VERSION} expected, got ${version}`)
      return { key: reader.bytes(KEY_BYTES, 'prover key'), inventory: reader.rest('inventory') }
    },
  },
  pong: token(66),
  ready: signature(67),
  root: {
    id: 68,
    limit: 44,
    encode: ({ part, device, index, root }) => concatBytes(u32le(part), u32le(device), u32le(index), root),
    decode: (reader) => ({
      part: reader.u32('part'),
      device: reader.u32('device'),
      index: reader.u32('index'),
      root: reader.bytes(32, 'root'),
    }),
  },
  opened: {
    id: 69,
    // 4096 openings of the deepest tree: two paths of 20 and 12 nodes over the kept rounds.
    limit: 8 + 4096 * 32 * 52,
    encode: ({ part, device, paths }) => concatBytes(u32le(part), u32le(device), paths),
    decode: (reader) => ({ part: reader.u32('part'), device: reader.u32('device'), paths: reader.rest('paths') }),
  },
  result: signature(70),
  telemetry: {
    id: 71,
    limit: 4 + 4096,
    encode: ({ device, sample }) => concatBytes(u32le(device), sample),
    decode: (reader) => ({ device: reader.u32('device'), sample: reader.rest('sample') }),
  },
  fault: faultCodec(72),
  stored: {
    id: 73,
    limit: 1,
    encode: ({ pastCache }) => Uint8Array.of(pastCache ? 1 : 0),
    decode: (reader) => ({ pastCache: oneOf([false, true], reader.u8('past cache'), 'past cache') }),
  },
  walked: { id: 74, limit: 1 + MAX_LANES * (1 + MAX_MARKS * MARK_BYTES), encode: encodeLanes, decode: readLanes },
  unable: faultCodec(75),
}

/** What each side may say: anything else is refused by its decoder. */
export const ORDERS = [
  'hello',
  'ping',
  'challenge',
  'start',
  'passes',
  'reveal',
  'finish',
  'store',
  'walk',
  'halt',
] as const satisfies readonly Order['type'][]
export const ANSWERS = [
  'welcome',
  'pong',
  'ready',
  'root',
  'opened',
  'result',
  'telemetry',
  'fault',
  'stored',
  'walked',
  'unable',
] as const satisfies readonly Answer['type'][]
