import type { Kernels } from '../../core/engine/kernels.ts'

/** What kernels/native exports: name and arguments, o an offset into the memory, u 32 bits, f a float. */
const EXPORTS = {
  entries: ['ts_entries', 'ouuuuuo'],
  tile: ['ts_tile', 'ouuuuo'],
  product: ['ts_product', 'uoouo'],
  masks: ['ts_masks', 'uuo'],
  fingerprintTile: ['ts_fingerprint_tile', 'ooo'],
  fingerprintPair: ['ts_fingerprint_pair', 'ooouo'],
  keep: ['ts_keep', 'oo'],
  partner: ['ts_export_partner', 'uuuu', 'uint32_t'],
  subtree: ['ts_subtree', 'ouuuuo'],
  crown: ['ts_crown', 'uuo'],
  nextSeed: ['ts_export_next_seed', 'ooo'],
  nextPass: ['ts_export_next_pass', 'ooo'],
  passRoot: ['ts_export_pass_root', 'uoo'],
  fma: ['ts_fused', 'fff', 'float'],
} as const satisfies Record<keyof Kernels, readonly [symbol: string, letters: string, result?: string]>

const TYPES: Readonly<Record<string, string>> = { o: 'uint64_t', u: 'uint32_t', f: 'float' }

/** A library of kernels/native in this thread. */
export interface NativeKernels {
  /** Whether this processor, and the system on it, run what the library was compiled for. */
  readonly supported: boolean
  /** The kernels on a memory; they keep it alive. At least a page: smaller ones may move. */
  on(memory: Uint8Array): Kernels
}

/**
 * Loads a library of kernels/native. koffi is asked for here alone, so that where it is missing nothing else is.
 * Without `sha` it hashes as on a processor that has no instructions for it.
 */
export async function loadNativeKernels(path: string, { sha = true } = {}): Promise<NativeKernels> {
  const { default: koffi } = await import('koffi')
  const library = koffi.load(path)
  const calls = Object.entries(EXPORTS).map(([name, [symbol, letters, result = 'void']]) => {
    const types = Array.from(letters, (letter) => TYPES[letter]!)
    return { name, call: library.func(symbol, result, ['uint64_t', ...types]) }
  })
  return {
    supported: library.func('ts_supported', 'uint32_t', ['uint32_t'])(sha ? 1 : 0) === 1,
    on: (memory) => {
      const base: bigint = koffi.address(memory)
      const bound = calls.map(({ name, call }) => {
        const kernel = (...args: readonly number[]) => call(base, ...args)
        return [name, kernel]
      })
      return { ...Object.fromEntries(bound), memory } as Kernels
    },
  }
}
