import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { createWorkKernels } from './workKernels.ts'

const PIECE = 4096

test('a sum over more than 4,096 pieces is the sum of the sums of pieces of their sums', async () => {
  const wasm = readFileSync(new URL('../../../kernels/built/work.wasm', import.meta.url))
  const { kernels, free, memory } = await createWorkKernels(wasm)
  const [pieces, rest] = [PIECE + 2, 5]
  const count = pieces * PIECE + rest
  const [sums, out] = [free + 4 * count, free + 4 * (count + pieces + 1)]
  const figures = new Float32Array(memory(4 * (count + pieces + 8)))
  const at = (pointer: number) => figures[pointer / 4]!
  kernels.normal(free, count, 1, 0, 1, 2, 3, 4, 0)
  expect(kernels.rowSum(free, out, 1, count)).toBe(0)
  const whole = at(out)
  kernels.rowSum(free, sums, pieces, PIECE)
  kernels.rowSum(free + 4 * pieces * PIECE, sums + 4 * pieces, 1, rest)
  kernels.rowSum(sums, out, 1, PIECE)
  kernels.rowSum(sums + 4 * PIECE, out + 4, 1, pieces + 1 - PIECE)
  kernels.rowSum(out, out + 8, 1, 2)
  expect(at(out + 8)).toBe(whole)
  expect(whole).not.toBe(0)
})
