import { MAX_K, MAX_SIZE, TILE } from '../params/constants.ts'
import { PRECISIONS } from '../params/precision.ts'
import type { TileEngine, TileRequest } from '../proof/tileEngine.ts'
import { alignUp, type Kernels, type Pointer, type WasmKernels } from './kernels.ts'
import { WASM_PAGE_BYTES, type WasmMemory, webAssembly } from './webAssembly.ts'

const SEED_BYTES = 32
const TILE_BYTES = 4 * TILE * TILE

/** What an engine needs of the memory that its kernels work on. */
export const ENGINE_BYTES = 64 + TILE_BYTES

/**
 * The verifier's engine: any tile from the seed alone, in a few hundred kilobytes of memory that never grow.
 * `wasmBytes` is kernels/built/engine.wasm; reading the file is the caller's, so that this runs in a browser too.
 */
export async function createEngine(wasmBytes: Uint8Array): Promise<TileEngine> {
  const module = await webAssembly.compile(wasmBytes)
  const { exports: kernels } = await webAssembly.instantiate<WasmKernels & { readonly memory: WasmMemory }>(module, {})
  const start = alignUp(kernels.__heap_base.value, 64)
  const missing = start + ENGINE_BYTES - kernels.memory.buffer.byteLength
  if (missing > 0) kernels.memory.grow(Math.ceil(missing / WASM_PAGE_BYTES))
  return engineOn(kernels, kernels.memory.buffer, start)
}

/** The engine of any kernels, on ENGINE_BYTES of their memory from `start` on. */
export function engineOn(kernels: Kernels, memory: ArrayBuffer, start: Pointer): TileEngine {
  const out = start + 64
  const seed = new Uint8Array(memory, start, SEED_BYTES)
  const tile = new Uint32Array(memory, out, TILE * TILE)
  return {
    tile: (request) => {
      requireInRange(request)
      seed.set(request.seed)
      const { code } = PRECISIONS[request.precision]
      kernels.tile(start, code, request.k, request.tileRow, request.tileColumn, out)
      return tile.slice()
    },
  }
}

/** The kernel counts entries in u32 and takes k 32 at a time; outside that it would answer wrongly, so it is not asked. */
function requireInRange({ seed, k, tileRow, tileColumn }: TileRequest): void {
  const inMatrix = (tiles: number) => Number.isInteger(tiles) && tiles >= 0 && tiles < MAX_SIZE / TILE
  if (seed.length !== SEED_BYTES) throw new RangeError(`a seed has ${SEED_BYTES} bytes, got ${seed.length}`)
  if (!Number.isInteger(k) || k <= 0 || k > MAX_K || k % TILE !== 0)
    throw new RangeError(`k must be a multiple of ${TILE} up to ${MAX_K}, got ${k}`)
  if (!inMatrix(tileRow) || !inMatrix(tileColumn))
    throw new RangeError(`tile (${tileRow}, ${tileColumn}) lies outside the largest matrix`)
}
