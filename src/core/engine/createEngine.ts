import type { TileEngine } from '../proof/tileEngine.ts'
import { ENGINE_BYTES, engineOn } from './engineOn.ts'
import { alignUp, type WasmKernels } from './kernels.ts'
import { WASM_PAGE_BYTES, type WasmMemory, webAssembly } from './webAssembly.ts'

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
