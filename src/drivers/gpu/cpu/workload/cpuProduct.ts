import type { ProductTask } from '../../../../ports/tensorDevice.ts'
import { type Floats, valuesOf } from './cpuTensor.ts'

/** Rounds to nearest even at 8 bits of significand, as the operands of a tensor core are. */
export function roundToBf16(values: Float32Array): Float32Array {
  const out = values.slice()
  const bits = new Uint32Array(out.buffer)
  for (let i = 0; i < bits.length; i++) {
    const word = bits[i]!
    bits[i] = (word + 0x7fff + ((word >>> 16) & 1)) & 0xffff0000
  }
  return out
}

/** Plain loops over rows that lie in one piece: operands that lie the other way are turned first. */
export function cpuProduct(
  { c, a, b, m, n, k, batch = 1, aTransposed, bTransposed }: ProductTask,
  bf16: boolean,
): void {
  for (let index = 0; index < batch; index++) {
    const rows = operand(valuesOf(a).subarray(index * m * k, (index + 1) * m * k), m, k, aTransposed === true, bf16)
    const columns = operand(valuesOf(b).subarray(index * n * k, (index + 1) * n * k), n, k, bTransposed === true, bf16)
    multiply(valuesOf(c).subarray(index * m * n, (index + 1) * m * n), rows, columns, m, n, k)
  }
}

function operand(values: Floats, rows: number, k: number, transposed: boolean, bf16: boolean): Floats {
  const rounded = bf16 ? roundToBf16(values as Float32Array) : values
  if (!transposed) return rounded
  const out = rounded instanceof Float32Array ? new Float32Array(rows * k) : new Float64Array(rows * k)
  for (let p = 0; p < k; p++) for (let row = 0; row < rows; row++) out[row * k + p] = rounded[p * rows + row]!
  return out
}

/** Four sums at a time, so that one load of A serves four products. */
function multiply(c: Floats, a: Floats, b: Floats, m: number, n: number, k: number): void {
  for (let i = 0; i < m; i++) {
    let j = 0
    for (; j + 4 <= n; j += 4) {
      let s0 = 0
      let s1 = 0
      let s2 = 0
      let s3 = 0
      for (let p = 0; p < k; p++) {
        const x = a[i * k + p]!
        s0 += x * b[j * k + p]!
        s1 += x * b[(j + 1) * k + p]!
        s2 += x * b[(j + 2) * k + p]!
        s3 += x * b[(j + 3) * k + p]!
      }
      c[i * n + j] = s0
      c[i * n + j + 1] = s1
      c[i * n + j + 2] = s2
      c[i * n + j + 3] = s3
    }
    for (; j < n; j++) {
      let sum = 0
      for (let p = 0; p < k; p++) sum += a[i * k + p]! * b[j * k + p]!
      c[i * n + j] = sum
    }
  }
}
