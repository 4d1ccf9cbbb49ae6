import { createEngine } from '../../core/engine/createEngine.ts'
import type { TileEngine } from '../../core/proof/tileEngine.ts'
import { chooseKernels, type NativeLibrary, openNativeEngine } from '../system/chooseKernels.ts'
import { readKernel } from '../system/kernelFiles.ts'

/** What a thread computes with, in a form that can be sent to it. */
export type EngineStart = { readonly native: NativeLibrary } | { readonly wasm: Uint8Array }

/** The best that this machine runs. */
export async function chooseEngine(): Promise<EngineStart> {
  const native = await chooseKernels()
  return native ? { native } : { wasm: await readKernel('engine.wasm') }
}

/** The engine in this thread. */
export const openEngine = async (start: EngineStart): Promise<TileEngine> =>
  await ('native' in start ? openNativeEngine(start.native) : createEngine(start.wasm))
