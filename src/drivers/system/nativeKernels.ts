import type { Kernels, Pointer } from '../../core/engine/kernels.ts'
import { FIELD_ARGUMENTS, FIELD_OPS, type FieldKernels } from '../../core/work/fieldKernels.ts'
import { STEP_ARGUMENTS, STEP_OPS, type StepKernels } from '../../core/work/stepKernels.ts'
import { kernelsFrom, WORK_ARGUMENTS, WORK_OPS, type WorkKernels } from '../../core/work/workKernels.ts'

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

const PASS_TYPES = ['uint64_t', 'void *', 'uint32_t', 'void *', 'uint32_t', 'uint32_t', 'uint64_t', 'uint64_t']
PASS_TYPES.push('uint32_t', 'uint32_t', 'uint64_t')

const FINGERPRINT_BYTES = 16
const VECTOR_BYTES = 64

const TYPES: Readonly<Record<string, string>> = { o: 'uint64_t', u: 'uint32_t', f: 'float', d: 'double' }

/** A fill in pieces of so many tiles each, wherever they lie in this process (§7). */
export interface FillPieces {
  readonly pieces: readonly Uint8Array[]
  readonly tilesPerPiece: number
  readonly tiles: number
}

/** Pass words, masks and fingerprints of a pass, in the memory that the kernels work on. */
interface PassPlaces {
  readonly z: Pointer
  readonly masks: Pointer
  readonly fingerprints: Pointer
}

/** What the WebAssembly kernels cannot do, who see no memory but their own. */
interface NativeOnly {
  /** §7. Makes the fingerprints of tiles from `first` to `end` (excluded), each with its partner. */
  passOver(own: FillPieces, peer: FillPieces, at: PassPlaces): (first: number, end: number) => void
}

/** A library of kernels/native in this thread. */
export interface NativeKernels {
  /** Whether this processor, and the system on it, run what the library was compiled for. */
  readonly supported: boolean
  /** The kernels on a memory; they keep it alive. At least a page: smaller ones may move. */
  on(memory: Uint8Array): Kernels & NativeOnly
  /** The ops of exact work on a memory; they keep it alive. */
  workOn(memory: Uint8Array): WorkKernels
  /** The kernels of sumchecks on a memory; they keep it alive. */
  fieldOn(memory: Uint8Array): FieldKernels
  /** The kernels of transitions by sumcheck on a memory; they keep it alive. */
  stepOn(memory: Uint8Array): StepKernels
  /** Where whole vectors may lie in a memory: the first multiple of 64, by its address, from byte 64 on. */
  startIn(memory: Uint8Array): Pointer
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
  const work = new Map(
    Object.entries({ ...WORK_ARGUMENTS, ...FIELD_ARGUMENTS, ...STEP_ARGUMENTS }).map(([name, letters]) => {
      const types = Array.from(letters, (letter) => TYPES[letter]!)
      return [name, library.func(`ts_work_${name}`, 'uint32_t', ['uint64_t', ...types])]
    }),
  )
  const workFrom = <Name extends string>(names: readonly Name[], memory: Uint8Array) => {
    const base: bigint = koffi.address(memory)
    const kernels = kernelsFrom(names, (name) => {
      const call = work.get(name)!
      return (...args) => call(base, ...args)
    })
    return Object.assign(kernels, { memory })
  }
  const pass = library.func('ts_fingerprint_pass', 'void', PASS_TYPES)
  return {
    supported: library.func('ts_supported', 'uint32_t', ['uint32_t'])(sha ? 1 : 0) === 1,
    on: (memory) => {
      const base: bigint = koffi.address(memory)
      const bound = calls.map(({ name, call }) => {
        const kernel = (...args: readonly number[]) => call(base, ...args)
        return [name, kernel]
      })
      const passOver: NativeOnly['passOver'] = (own, peer, { z, masks, fingerprints }) => {
        const addresses = ({ pieces }: FillPieces) => BigUint64Array.from(pieces, (piece) => koffi.address(piece))
        const [mine, theirs] = [addresses(own), addresses(peer)]
        // Whoever holds the answer holds both fills.
        return (first, end) => {
          const out = fingerprints + FINGERPRINT_BYTES * first
          const [inMine, inTheirs] = [own.tilesPerPiece, peer.tilesPerPiece]
          pass(base, mine, inMine, theirs, inTheirs, peer.tiles, z, masks, first, end - first, out)
        }
      }
      return { ...Object.fromEntries(bound), passOver, memory } as Kernels & NativeOnly
    },
    workOn: (memory) => workFrom(WORK_OPS, memory),
    fieldOn: (memory) => workFrom(FIELD_OPS, memory),
    stepOn: (memory) => workFrom(STEP_OPS, memory),
    startIn: (memory) =>
      VECTOR_BYTES + ((VECTOR_BYTES - Number(koffi.address(memory) % BigInt(VECTOR_BYTES))) % VECTOR_BYTES),
  }
}
