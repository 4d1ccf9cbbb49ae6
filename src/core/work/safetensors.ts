import { parseStrictJson } from '../bytes/parseStrictJson.ts'
import { DecodeError } from '../bytes/reader.ts'

/** Bytes of an element, by what the file calls it. */
const TYPES = {
  ...{ BOOL: 1, U8: 1, I8: 1, F8_E4M3: 1, F8_E5M2: 1, I16: 2, U16: 2, F16: 2, BF16: 2 },
  ...{ I32: 4, U32: 4, F32: 4, I64: 8, U64: 8, F64: 8 },
} as const

/** One tensor of a safetensors file: its values lie at `[from, to)` bytes after the header. */
export interface StoredTensor {
  readonly name: string
  readonly type: keyof typeof TYPES
  readonly dims: readonly number[]
  readonly from: number
  readonly to: number
}

const MAX_HEADER_BYTES = 16 * 1024 * 1024
/** Data begins at a multiple of this, so that it can be mapped. */
const ALIGNMENT = 64

const bytesOf = (dims: readonly number[], size = 4): number => dims.reduce((product, each) => product * each, size)

/** Free words about a file, under the one name that no tensor may have. */
export type Metadata = Readonly<Record<string, string>>
const METADATA = '__metadata__'

/** Eight bytes of length, then JSON padded with spaces; the tensors follow in the order given, without gaps. */
export function encodeHeader(
  tensors: readonly { readonly name: string; readonly dims: readonly number[] }[],
  metadata: Metadata = {},
): Uint8Array {
  let at = 0
  const entries = tensors.map(({ name, dims }) => {
    const from = at
    at += bytesOf(dims)
    return [name, { dtype: 'F32', shape: dims, data_offsets: [from, at] }]
  })
  const words = Object.keys(metadata).length === 0 ? [] : [[METADATA, metadata]]
  const json = new TextEncoder().encode(JSON.stringify(Object.fromEntries([...words, ...entries])))
  const out = new Uint8Array(Math.ceil((8 + json.length) / ALIGNMENT) * ALIGNMENT).fill(0x20)
  new DataView(out.buffer).setBigUint64(0, BigInt(out.length - 8), true)
  out.set(json, 8)
  return out
}

/** Length of the whole header, from its first eight bytes. */
export function headerLength(first: Uint8Array): number {
  if (first.length < 8) throw new DecodeError('checkpoint: shorter than its header')
  const length = new DataView(first.buffer, first.byteOffset, 8).getBigUint64(0, true)
  if (length > BigInt(MAX_HEADER_BYTES)) throw new DecodeError('checkpoint: header too long')
  return 8 + Number(length)
}

function entriesIn(header: Uint8Array): readonly (readonly [string, unknown])[] {
  let value: unknown
  try {
    value = parseStrictJson(new TextDecoder('utf-8', { fatal: true }).decode(header.subarray(8)))
  } catch {
    throw new DecodeError('checkpoint: header is not JSON, or has a name twice')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new DecodeError('checkpoint: header is not an object')
  return Object.entries(value)
}

/** One of the words about a file; null where it has none. */
export function metadataIn(header: Uint8Array, name: string): string | null {
  const [, words] = entriesIn(header).find(([entry]) => entry === METADATA) ?? []
  if (typeof words !== 'object' || words === null || !Object.hasOwn(words, name)) return null
  const word: unknown = (words as Record<string, unknown>)[name]
  return typeof word === 'string' ? word : null
}

/** Reads a whole header; every tensor must be in range, as long as its dims say, and share no byte with another. */
export function decodeHeader(header: Uint8Array, fileLength: number): StoredTensor[] {
  const tensors = entriesIn(header)
    .filter(([name]) => name !== METADATA)
    .map(([name, entry]) => decodeTensor(name, entry, fileLength - header.length))
  const held = tensors.filter(({ from, to }) => to > from).sort((a, b) => a.from - b.from)
  if (held.some(({ from }, i) => i > 0 && from < held[i - 1]!.to)) throw new DecodeError('checkpoint: tensors overlap')
  return tensors
}

const isSize = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0

function decodeTensor(name: string, entry: unknown, available: number): StoredTensor {
  const { dtype, shape, data_offsets } = (typeof entry === 'object' && entry !== null ? entry : {}) as Record<
    string,
    unknown
  >
  if (typeof dtype !== 'string' || !Object.hasOwn(TYPES, dtype))
    throw new DecodeError('checkpoint: a tensor of no known type')
  const type = dtype as keyof typeof TYPES
  if (!Array.isArray(shape) || shape.length > 8 || !shape.every(isSize)) throw new DecodeError('checkpoint: odd dims')
  if (!Array.isArray(data_offsets) || data_offsets.length !== 2 || !data_offsets.every(isSize))
    throw new DecodeError('checkpoint: odd offsets')
  const [from, to] = data_offsets as [number, number]
  if (to - from !== bytesOf(shape, TYPES[type]) || to > available)
    throw new DecodeError('checkpoint: a tensor is cut off')
  return { name, type, dims: shape, from, to }
}
