import { tensorBytes } from '../../core/work/tensor.ts'
import { TensorMemory } from '../../core/work/tensorMemory.ts'
import type { ExactEngine } from '../../core/work/workEngine.ts'
import { NONE } from '../../core/work/workKernels.ts'

/** Every half as the bits of the float it is. */
const HALVES = Uint32Array.from({ length: 65_536 }, (_, half) => {
  const [sign, exponent, fraction] = [(half >> 15) << 31, (half >> 10) & 31, half & 1023]
  if (exponent === 31) return (sign | 0x7f800000 | (fraction << 13)) >>> 0
  if (exponent > 0) return (sign | ((exponent + 112) << 23) | (fraction << 13)) >>> 0
  if (fraction === 0) return sign >>> 0
  const shift = Math.clz32(fraction) - 21
  return (sign | ((113 - shift) << 23) | (((fraction << shift) & 1023) << 13)) >>> 0
})

/** Numbers of a file as f32, which has all of them; null where one is infinite or none. */
export function widened(type: 'F32' | 'F16' | 'BF16' | string, bytes: Uint8Array): Float32Array | null {
  const view = bytes.byteOffset % 4 === 0 ? bytes : bytes.slice()
  const bits =
    type === 'F32'
      ? new Uint32Array(view.buffer, view.byteOffset, bytes.length / 4)
      : Uint32Array.from(new Uint16Array(view.buffer, view.byteOffset, bytes.length / 2), (half) =>
          type === 'F16' ? HALVES[half]! : half << 16,
        )
  for (let i = 0; i < bits.length; i++) if ((bits[i]! & 0x7f800000) === 0x7f800000) return null
  return new Float32Array(bits.buffer, bits.byteOffset, bits.length)
}

/** Rows as columns. */
export function transposed(values: Float32Array, rows: number, width: number): Float32Array {
  const out = new Float32Array(values.length)
  for (let row = 0; row < rows; row++)
    for (let column = 0; column < width; column++) out[column * rows + row] = values[row * width + column]!
  return out
}

/** W2.2.2 and W2.2.3, by the kernels that every work runs on. */
export function quantiseRows(
  engine: ExactEngine,
  values: Float32Array,
  width: number,
): { readonly rows: Uint8Array; readonly scales: Uint8Array } {
  const rows = values.length / width
  const memory = new TensorMemory(engine)
  const shapes = { x: { type: 'f32', rows, width }, q: { type: 'i8', rows, width }, s: { type: 'f32', rows, width: 1 } }
  const [x, q, s] = (['x', 'q', 's'] as const).map((name) => memory.make(name, shapes[name] as never))
  engine.view(x!.at, tensorBytes(x!.shape)).set(new Uint8Array(values.buffer, values.byteOffset, values.byteLength))
  engine.kernels.rowScale(x!.at, NONE, s!.at, rows, width, width, 0, rows)
  engine.kernels.quantise(x!.at, NONE, s!.at, q!.at, rows, width, width, 0, rows)
  return { rows: memory.bytes('q').slice(), scales: memory.bytes('s').slice() }
}
