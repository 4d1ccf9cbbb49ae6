import { existsSync, readFileSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { kernelsSuite } from '../../../test/suites/kernelsSuite.ts'
import { skipWith } from '../../../test/support/skipWith.ts'
import { PRECISION_NAMES, PRECISIONS } from '../params/precision.ts'
import { entryRow, type Matrix } from '../proof/entries.ts'
import type { TileEngine } from '../proof/tileEngine.ts'
import { createEngine, createFastestEngine } from './createEngine.ts'
import { alignUp, type WasmKernels } from './kernels.ts'
import { type WasmMemory, webAssembly } from './webAssembly.ts'

// Of age in a browser and in newer versions of Node; Node 20 has to be told.
setFlagsFromString('--experimental-wasm-relaxed-simd')

const built = (name: string) => new Uint8Array(readFileSync(new URL(`../../../kernels/built/${name}`, import.meta.url)))
const [wasm, relaxed] = [built('engine.wasm'), built('engine-relaxed.wasm')]

async function openKernels(bytes = wasm) {
  const { exports } = await webAssembly.instantiate(await webAssembly.compile(bytes), {})
  const kernels = exports as WasmKernels & { readonly memory: WasmMemory }
  kernels.memory.grow(64)
  const { buffer } = kernels.memory
  const putEqualRows = (at: number, row: readonly number[]) => {
    for (let r = 0; r < 32; r++) new Float32Array(buffer, at + 4 * row.length * r, row.length).set(row)
  }
  return { kernels, buffer, free: alignUp(kernels.__heap_base.value, 64), putEqualRows }
}

kernelsSuite('WebAssembly', openKernels)

/** On a processor without a fused multiply-add it is never used, and its fp32 need not be right. */
const isFused = !existsSync('/proc/cpuinfo') || /\bfma\b|asimd/.test(readFileSync('/proc/cpuinfo', 'latin1'))
if (isFused) kernelsSuite('WebAssembly with relaxed SIMD', () => openKernels(relaxed), 0.2)
else skipWith('WebAssembly with relaxed SIMD', 'this processor has no fused multiply-add')

describe('createFastestEngine', () => {
  const request = { seed: new Uint8Array(32).fill(5), precision: 'fp32', k: 2048, tileRow: 3, tileColumn: 7 } as const

  test.runIf(isFused)('takes relaxed SIMD where it runs, and every tile is the same to the last bit', async () => {
    const [plain, fastest] = [await createEngine(wasm), await createFastestEngine(wasm, relaxed)]
    const tiles = fc.property(
      fc.uint8Array({ minLength: 32, maxLength: 32 }),
      fc.constantFrom(...PRECISION_NAMES),
      fc.integer({ min: 1, max: 64 }),
      fc.nat(1023),
      (seed, precision, blocks, tileRow) => {
        const one = { seed, precision, k: 32 * blocks, tileRow, tileColumn: 1023 - tileRow }
        expect(fastest.tile(one)).toEqual(plain.tile(one))
      },
    )
    fc.assert(tiles, { numRuns: 100 })
  })

  test('falls back on the other where it does not run, or rounds twice', async () => {
    const plain = await createEngine(wasm)
    const cut = relaxed.subarray(0, 1000)
    // f32x4.relaxed_madd becomes relaxed_nmadd: what is wrong in fp32 alone.
    const wrong = Uint8Array.from(relaxed, (byte, i) =>
      byte === 0x85 && relaxed[i - 1] === 0xfd && relaxed[i + 1] === 0x02 ? 0x86 : byte,
    )
    expect(wrong).not.toEqual(relaxed)
    for (const bad of [cut, wrong])
      expect((await createFastestEngine(wasm, bad)).tile(request)).toEqual(plain.tile(request))
  })
})

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
