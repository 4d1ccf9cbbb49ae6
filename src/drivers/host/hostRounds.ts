import { equalBytes } from '../../core/bytes/bytes.ts'
import { alignUp, type Pointer } from '../../core/engine/kernels.ts'
import { growTo, type WasmMemory, webAssembly } from '../../core/engine/webAssembly.ts'
import { HOST_TABLE_BYTES, MARK_BYTES } from '../../core/params/hostParts.ts'
import { chooseKernels, type NativeLibrary } from '../system/chooseKernels.ts'
import { readKernel } from '../system/kernelFiles.ts'

/** §12. Where a processor's lane stands so many rounds later. */
export type Rounds = (at: Uint8Array, table: Uint8Array, rounds: number) => Uint8Array

/** What a thread walks with, in a form that can be sent to it. */
export interface RoundsStart {
  readonly wasm: Uint8Array
  readonly native: NativeLibrary | null
}

export const chooseRounds = async (): Promise<RoundsStart> => ({
  wasm: await readKernel('host.wasm'),
  native: await chooseKernels(),
})

/** In this thread. A library that differs would make an honest box look false: it is not used. */
export async function openRounds({ wasm, native }: RoundsStart): Promise<Rounds> {
  const everywhere = await wasmRounds(wasm)
  const faster = native && (await nativeRounds(native).catch(() => null))
  return faster && areSame(everywhere, faster) ? faster : everywhere
}

interface WasmRounds {
  readonly memory: WasmMemory
  readonly __heap_base: { readonly value: Pointer }
  rounds(state: Pointer, table: Pointer, rounds: number): void
}

export async function wasmRounds(wasm: Uint8Array): Promise<Rounds> {
  const { exports } = await webAssembly.instantiate<WasmRounds>(await webAssembly.compile(wasm), {})
  const table = alignUp(exports.__heap_base.value, MARK_BYTES)
  const state = table + HOST_TABLE_BYTES
  growTo(exports.memory, state + MARK_BYTES)
  const bytes = new Uint8Array(exports.memory.buffer)
  return (at, words, rounds) => {
    bytes.set(words, table)
    bytes.set(at, state)
    exports.rounds(state, table, rounds)
    return bytes.slice(state, state + MARK_BYTES)
  }
}

async function nativeRounds({ path }: NativeLibrary): Promise<Rounds> {
  const { default: koffi } = await import('koffi')
  const call = koffi.load(path).func('ts_host_rounds', 'void', ['void *', 'void *', 'uint32_t'])
  return (at, table, rounds) => {
    // Not slice(): that of a Buffer is no copy.
    const state = new Uint8Array(at)
    call(state, table, rounds)
    return state
  }
}

function areSame(one: Rounds, other: Rounds): boolean {
  const table = Uint8Array.from({ length: HOST_TABLE_BYTES }, (_, i) => i * 151 + (i >> 8) * 29)
  const at = table.slice(0, MARK_BYTES)
  return equalBytes(one(at, table, 1001), other(at, table, 1001))
}
