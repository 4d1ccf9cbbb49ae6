/** The slice of WebAssembly used here: neither the language library nor Node's types declare its functions. */
export interface WasmMemory {
  readonly buffer: ArrayBuffer
  grow(pages: number): number
}

export interface WasmModule {
  readonly [Symbol.toStringTag]?: 'WebAssembly.Module'
}

export interface WasmInstance {
  readonly exports: Readonly<Record<string, unknown>>
}

interface WebAssemblyApi {
  readonly Memory: new (limits: { initial: number; maximum?: number; shared?: boolean }) => WasmMemory
  readonly Instance: new (module: WasmModule, imports: Record<string, Record<string, unknown>>) => WasmInstance
  compile(bytes: Uint8Array): Promise<WasmModule>
  instantiate(module: WasmModule, imports: Record<string, Record<string, unknown>>): Promise<WasmInstance>
}

export const webAssembly = (globalThis as unknown as { readonly WebAssembly: WebAssemblyApi }).WebAssembly

export const WASM_PAGE_BYTES = 65536
