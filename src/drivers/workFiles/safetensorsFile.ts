import { encodeHeader } from '../../core/work/safetensors.ts'

/** Tensors of f32 as a safetensors file, in the order given. */
export function encodeSafetensors(
  tensors: readonly { readonly name: string; readonly dims: readonly number[]; readonly bytes: Uint8Array }[],
): Uint8Array {
  return Buffer.concat([encodeHeader(tensors), ...tensors.map(({ bytes }) => bytes)])
}
