import { toHex } from '../../src/core/bytes/hex.ts'
import { sha256 } from '../../src/core/bytes/sha256.ts'
import { matmul } from '../../src/core/work/kinds/matmul/matmul.ts'
import { product } from '../../src/core/work/ops/product.ts'
import type { WorkEngine } from '../../src/core/work/tensorMemory.ts'
import { tensorRoot } from '../../src/core/work/tensorTree.ts'
import { openWork, type Work } from '../../src/core/work/work.ts'
import type { WorkKernels } from '../../src/core/work/workKernels.ts'
import { encodeSpec } from '../../src/core/work/workSpec.ts'

export type ProductKernels = Pick<WorkKernels, 'product'>

export const PLAIN_OPS = { product }
export const PLAIN_KINDS = { matmul }

/** Products in plain whole numbers, on a memory of their own; `spoil` sees every sum. */
export function plainEngine(spoil = (sum: number, _at: number) => sum): WorkEngine<ProductKernels> {
  const memory = new Uint8Array(1 << 20)
  const signed = new Int8Array(memory.buffer)
  const sums = new Int32Array(memory.buffer)
  return {
    start: 64,
    view: (at, bytes) => memory.subarray(at, at + bytes),
    reserve: (end) => {
      if (end > memory.length) throw new RangeError('the memory of the test is full')
    },
    kernels: {
      product(a, b, out, rows, columns, k) {
        for (let i = 0; i < rows; i++)
          for (let j = 0; j < columns; j++) {
            let sum = 0
            for (let at = 0; at < k; at++) sum += signed[a + i * k + at]! * signed[b + j * k + at]!
            sums[out / 4 + i * columns + j] = spoil(sum, i * columns + j)
          }
        return 0
      },
    },
  }
}

/** Bytes that follow from a name, none of them -128. */
export function bytesFrom(name: string, length: number): Uint8Array {
  const out = new Uint8Array(length)
  for (let at = 0; at < length; at += 32)
    out.set(sha256(new TextEncoder().encode(`${name} ${at}`)).subarray(0, length - at), at)
  return out.map((value) => (value === 128 ? 1 : value))
}

export interface PlainProduct {
  readonly work: Work<ProductKernels>
  readonly given: ReadonlyMap<string, Uint8Array>
}

/** A product with operands that follow from their sizes. */
export function plainProduct(
  parameters: { rows: number; columns: number; k: number; block: number },
  bytesOf = bytesFrom,
): PlainProduct {
  const { rows, columns, k, block } = parameters
  const given = new Map([
    ['a', bytesOf('a', rows * k)],
    ['b', bytesOf('b', columns * k)],
  ])
  const inputs = [...matmul.given(parameters)].map(([name, shape]) => ({
    name,
    uri: '',
    root: toHex(tensorRoot(shape, given.get(name)!)),
  }))
  const transitions = Math.ceil(rows / block)
  const text = encodeSpec({ kind: 'matmul', version: 1, parameters, inputs, transitions, interval: 1 })
  const order = { text, orderId: sha256(Uint8Array.of(1)), seed: sha256(Uint8Array.of(2)) }
  return { work: openWork(PLAIN_KINDS, PLAIN_OPS, order), given }
}
