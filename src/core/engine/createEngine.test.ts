import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { kernelsSuite } from '../../../test/suites/kernelsSuite.ts'
import { PRECISION_NAMES, PRECISIONS } from '../params/precision.ts'
import { entryRow, type Matrix } from '../proof/entries.ts'
import type { TileEngine } from '../proof/tileEngine.ts'
import { createEngine } from './createEngine.ts'
import { alignUp, type WasmKernels } from './kernels.ts'
import { type WasmMemory, webAssembly } from './webAssembly.ts'

const wasm = new Uint8Array(readFileSync(new URL('../../../kernels/built/engine.wasm', import.meta.url)))

async function openKernels() {
  const { exports } = await webAssembly.instantiate(await webAssembly.compile(wasm), {})
  const kernels = exports as WasmKernels & { readonly memory: WasmMemory }
  kernels.memory.grow(64)
  const { buffer } = kernels.memory
  const putEqualRows = (at: number, row: readonly number[]) => {
    for (let r = 0; r < 32; r++) new Float32Array(buffer, at + 4 * row.length * r, row.length).set(row)
  }
  return { kernels, buffer, free: alignUp(kernels.__heap_base.value, 64), putEqualRows }
}

kernelsSuite('WebAssembly', openKernels)

test('entries of both matrices lie row by row', async () => {
  const { kernels, buffer, free } = await openKernels()
  const seeds = fc.uint8Array({ minLength: 32, maxLength: 32 })
  const precisions = fc.constantFrom(...PRECISION_NAMES)
  const row = fc.constantFrom(0, 1, 31, 32767)
  const check = fc.property(seeds, precisions, fc.constantFrom<Matrix>(0, 1), row, (seed, precision, matrix, at) => {
    const k = at === 32767 ? 32768 : 96
    new Uint8Array(buffer, free, 32).set(seed)
    kernels.entries(free, matrix, PRECISIONS[precision].code, at, 1, k, free + 64)
    const made = precision === 'fp32' ? Float32Array : Int16Array
    expect([...new made(buffer, free + 64, k)]).toEqual([...entryRow(seed, matrix, precision, at, k)])
  })
  fc.assert(check, { numRuns: 60 })
})

describe('createEngine', () => {
  let engine: TileEngine
  beforeAll(async () => {
    engine = await createEngine(wasm)
  })

  test('behavior: a tile handed out is not overwritten by the next', () => {
    const request = { seed: new Uint8Array(32), precision: 'int8', k: 64, tileRow: 0, tileColumn: 0 } as const
    const first = engine.tile(request)
    const copy = first.slice()
    engine.tile({ ...request, tileRow: 1 })
    expect(first).toEqual(copy)
  })

  test.each([
    ['a k that is no multiple of 32', { k: 40 }],
    ['a k above the limit of §2', { k: 65536 }],
    ['a tile outside the largest matrix', { tileRow: 1024 }],
    ['a tile before the first', { tileColumn: -1 }],
    ['a short seed', { seed: new Uint8Array(31) }],
  ])('behavior: refuses %s', (_, wrong) => {
    const request = { seed: new Uint8Array(32), precision: 'int8', k: 64, tileRow: 0, tileColumn: 0 } as const
    expect(() => engine.tile({ ...request, ...wrong })).toThrow(RangeError)
  })
})
