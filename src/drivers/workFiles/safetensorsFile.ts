import {
  decodeHeader,
  encodeHeader,
  headerLength,
  type Metadata,
  metadataIn,
  type StoredTensor,
} from '../../core/work/safetensors.ts'

/** Tensors of f32 as a safetensors file, in the order given. */
export function encodeSafetensors(
  tensors: readonly { readonly name: string; readonly dims: readonly number[]; readonly bytes: Uint8Array }[],
  metadata: Metadata = {},
): Uint8Array {
  return Buffer.concat([encodeHeader(tensors, metadata), ...tensors.map(({ bytes }) => bytes)])
}

const headerOf = (file: Uint8Array): Uint8Array =>
  file.subarray(0, Math.min(headerLength(file.subarray(0, 8)), file.length))

/** The tensors of f32 in such a file, by name; others are left out. Throws a DecodeError where the file lies about itself. */
export function decodeSafetensors(file: Uint8Array): ReadonlyMap<string, Uint8Array> {
  const header = headerOf(file)
  const at = header.length
  const tensors = decodeHeader(header, file.length).filter(({ type }) => type === 'F32')
  return new Map(tensors.map(({ name, from, to }) => [name, new Uint8Array(file.subarray(at + from, at + to))]))
}

/** Everything in such a file, whatever its type. */
export const storedTensors = (file: Uint8Array): readonly StoredTensor[] => decodeHeader(headerOf(file), file.length)

/** One of the words about such a file; null where it has none. */
export const safetensorsMetadata = (file: Uint8Array, name: string): string | null => metadataIn(headerOf(file), name)
