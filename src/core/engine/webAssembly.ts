/** The slice of WebAssembly used here: neither the language library nor Node's types declare its functions. */
export interface WasmMemory {
  readonly buffer: ArrayBuffer
  grow(pages: number): number
}

export interface WasmModule {
  readonly [Symbol.toStringTag]?: 'WebAssembly.Module'
}

/** What a module exports is for whoever built it to say. */
export interface WasmInstance<E> {
  readonly exports: E
}

interface WebAssemblyApi {
  readonly Memory: new (limits: { initial: number; maximum?: number; shared?: boolean }) => WasmMemory
  readonly Instance: new <E>(module: WasmModule, imports: Record<string, Record<string, unknown>>) => WasmInstance<E>
  compile(bytes: Uint8Array): Promise<WasmModule>
  instantiate<E>(module: WasmModule, imports: Record<string, Record<string, unknown>>): Promise<WasmInstance<E>>
}

declare const WebAssembly: WebAssemblyApi
export const webAssembly = WebAssembly

export const WASM_PAGE_BYTES = 65536

/** So that the memory reaches up to `end`. */
export function growTo(memory: WasmMemory, end: number): void {
  const missing = end - memory.buffer.byteLength
  if (missing > 0) memory.grow(Math.ceil(missing / WASM_PAGE_BYTES))
}
