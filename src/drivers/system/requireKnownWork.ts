import { createHash } from 'node:crypto'
import { MASK, NONE, type WorkKernels } from '../../core/work/workKernels.ts'

/** SHA-256 of what the calls below leave, as WebAssembly has it. */
export const KNOWN_WORK = 'fe21884052267c8e648e3ac32cfa054bea0e842acddbda6de7dd3bc1e5573cac'
export const KNOWN_WORK_BYTES = 65_536

/** W2 in a nutshell: product, scales, both roundings, functions, sums, rows and draws, on a memory of some pages. */
export function digestOfWork(kernels: WorkKernels, memory: Uint8Array, start: number): string {
  const at = (kilobytes: number): number => start + 1024 * kilobytes
  const floats = Float32Array.from({ length: 1024 }, (_, i) => (((i * 7919) % 2003) - 1001) / 64)
  memory.set(new Uint8Array(floats.buffer), at(0))
  const [rows, width] = [16, 64]
  const [x, scales, q, sums, y, z] = [at(0), at(4), at(5), at(6), at(8), at(12)]
  kernels.rowScale(x, NONE, scales, rows, width, width, 0, rows)
  kernels.quantise(x, NONE, scales, q, rows, width, width, 0, rows)
  kernels.product(q, q, sums, rows, rows, width, 1, 1, MASK.none, 0)
  kernels.dequantise(sums, scales, scales, NONE, y, rows, rows, 0, rows, 1)
  kernels.gelu(x, z, rows * width)
  kernels.rowMaximum(x, at(16), rows, width, width, 9)
  kernels.exponentialSum(x, at(16), at(17), rows, width, width, 9)
  kernels.exponential(x, at(16), at(18), rows, width, width, 9)
  kernels.divideRows(at(18), at(17), at(18), rows, width)
  kernels.rowMean(x, at(22), rows, width)
  kernels.normInverse(x, at(22), at(23), rows, width, 2 ** -16)
  kernels.norm(x, at(22), at(23), x, z, at(24), rows, width)
  kernels.quantiseStochastic(x, NONE, scales, at(28), rows, width, width, 0, rows, 1, 2, 3, 4, 5, width)
  kernels.normal(at(29), 256, 1, 2, 3, 4, 5, 6, 7)
  return createHash('sha256')
    .update(memory.subarray(start, at(30)))
    .digest('hex')
}

/** Throws where a library does exact work otherwise than WebAssembly does. */
export function requireKnownWork(workOn: (memory: Uint8Array) => WorkKernels): void {
  const memory = new Uint8Array(KNOWN_WORK_BYTES)
  if (digestOfWork(workOn(memory), memory, 64) !== KNOWN_WORK) throw new Error('its exact work is wrong')
}
