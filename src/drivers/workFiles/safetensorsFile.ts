import { decodeHeader, encodeHeader, headerLength } from '../../core/work/safetensors.ts'

/** Tensors of f32 as a safetensors file, in the order given. */
export function encodeSafetensors(
  tensors: readonly { readonly name: string; readonly dims: readonly number[]; readonly bytes: Uint8Array }[],
): Uint8Array {
  return Buffer.concat([encodeHeader(tensors), ...tensors.map(({ bytes }) => bytes)])
}

/** The tensors of f32 in such a file, by name; others are left out. Throws a DecodeError where the file lies about itself. */
export function decodeSafetensors(file: Uint8Array): ReadonlyMap<string, Uint8Array> {
  const dataAt = Math.min(headerLength(file.subarray(0, 8)), file.length)
  const tensors = decodeHeader(file.subarray(0, dataAt), file.length).filter(({ type }) => type === 'F32')
  return new Map(tensors.map(({ name, from, to }) => [name, new Uint8Array(file.subarray(dataAt + from, dataAt + to))]))
}
