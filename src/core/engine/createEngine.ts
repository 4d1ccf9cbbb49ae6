import { PRECISION_NAMES, type Precision } from '../params/precision.ts'
import type { TileEngine } from '../proof/tileEngine.ts'
import { ENGINE_BYTES, engineOn } from './engineOn.ts'
import { alignUp, type WasmKernels } from './kernels.ts'
import { growTo, type WasmMemory, webAssembly } from './webAssembly.ts'

/**
 * The faster of two engines, where this world runs it and its tiles are the same: relaxed SIMD leaves open whether a product
 * and a sum are rounded together, as fp32 needs it (§2), or one by one. `relaxed` is kernels/built/engine-relaxed.wasm.
 */
export async function createFastestEngine(wasmBytes: Uint8Array, relaxed: Uint8Array): Promise<TileEngine> {
  const engine = await createEngine(wasmBytes)
  const faster = await createEngine(relaxed).catch(() => null)
  return faster !== null && PRECISION_NAMES.every((precision) => haveSameTile(engine, faster, precision))
    ? faster
    : engine
}

/** A tile long enough for every path through the kernels, with a thousand chains that would differ if rounded twice. */
function haveSameTile(one: TileEngine, other: TileEngine, precision: Precision): boolean {
  const request = { seed: Uint8Array.from({ length: 32 }, (_, i) => i), precision, k: 1056, tileRow: 2, tileColumn: 1 }
  const expected = one.tile(request)
  return other.tile(request).every((element, i) => element === expected[i])
}

/**
 * The verifier's engine: any tile from the seed alone, in a few hundred kilobytes of memory that never grow.
 * `wasmBytes` is kernels/built/engine.wasm; reading the file is the caller's, so that this runs in a browser too.
 */
export async function createEngine(wasmBytes: Uint8Array): Promise<TileEngine> {
  const module = await webAssembly.compile(wasmBytes)
  const { exports: kernels } = await webAssembly.instantiate<WasmKernels & { readonly memory: WasmMemory }>(module, {})
  const start = alignUp(kernels.__heap_base.value, 64)
  growTo(kernels.memory, start + ENGINE_BYTES)
  return engineOn(kernels, kernels.memory.buffer, start)
}
