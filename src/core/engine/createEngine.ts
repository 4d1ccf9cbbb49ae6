import { MAX_K, MAX_SIZE, TILE } from '../params/constants.ts'
import { PRECISIONS } from '../params/precision.ts'
import type { TileEngine, TileRequest } from '../proof/tileEngine.ts'
import { alignUp, type Kernels, type Pointer } from './kernels.ts'
import { WASM_PAGE_BYTES, type WasmMemory, webAssembly } from './webAssembly.ts'

const SEED_BYTES = 32
const TILE_BYTES = 4 * TILE * TILE

/**
 * The verifier's engine: any tile from the seed alone, in a few hundred kilobytes of memory that never grow.
 * `wasmBytes` is kernels/built/engine.wasm; reading the file is the caller's, so that this runs in a browser too.
 */
export async function createEngine(wasmBytes: Uint8Array): Promise<TileEngine> {
  const module = await webAssembly.compile(wasmBytes)
  const { exports: kernels } = await webAssembly.instantiate<Kernels & { readonly memory: WasmMemory }>(module, {})
  const seed = alignUp(kernels.__heap_base.value, 64)
  const out = seed + 64
  const missing = out + TILE_BYTES - kernels.memory.buffer.byteLength
  if (missing > 0) kernels.memory.grow(Math.ceil(missing / WASM_PAGE_BYTES))
  return { tile: (request) => tile(kernels, { seed, out }, request) }
}

function tile(
  kernels: Kernels & { readonly memory: WasmMemory },
  at: { readonly seed: Pointer; readonly out: Pointer },
  request: TileRequest,
): Uint32Array {
  requireInRange(request)
  const { buffer } = kernels.memory
  new Uint8Array(buffer, at.seed, SEED_BYTES).set(request.seed)
  const { code } = PRECISIONS[request.precision]
  kernels.tile(at.seed, code, request.k, request.tileRow, request.tileColumn, at.out)
  return new Uint32Array(buffer, at.out, TILE * TILE).slice()
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
