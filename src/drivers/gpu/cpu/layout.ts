import { alignUp, type Pointer } from '../../../core/engine/kernels.ts'
import { KEPT_TILE_BYTES, TILE } from '../../../core/params/constants.ts'
import { paddedRounds, tilesOf } from '../tasks.ts'

/** Below lie the module's own stack and constants. */
export const HEAP_START = 2 ** 20
/** The deepest kernel keeps 128 KiB of packed operands on the stack. */
const STACK_BYTES = 2 ** 18
export const TILE_BYTES = 4 * TILE * TILE
export const FINGERPRINT_BYTES = 16
const HASH_BYTES = 32
/** WebAssembly addresses 4 GiB; stay clear of the end. */
export const LARGEST_MEMORY_BYTES = 2 ** 32 - 2 ** 20

export const stackTop = (thread: number): Pointer => HEAP_START + (thread + 1) * STACK_BYTES

/** Hands out parts of the memory one after the other. */
function openArena(threads: number) {
  let at = stackTop(threads)
  const take = (bytes: number): Pointer => {
    const from = at
    at = alignUp(at + bytes, 64)
    return from
  }
  return { take, size: () => at }
}

export const entryBytes = (precision: number): number => (precision === 4 ? 4 : 2)

export const treeBytes = (leaves: number): number => 2 * leaves * HASH_BYTES

export interface RoundsShape {
  readonly mode: 'rounds' | 'bind' | 'fill'
  readonly precision: number
  readonly m: number
  readonly n: number
  readonly k: number
}

export function roundsLayout({ mode, precision, m, n, k }: RoundsShape, threads: number) {
  const arena = openArena(threads)
  const tiles = tilesOf({ m, n })
  const layout = {
    seed: arena.take(HASH_BYTES),
    masks: arena.take(TILE_BYTES),
    a: arena.take(m * k * entryBytes(precision)),
    b: arena.take(n * k * entryBytes(precision)),
    /** All tiles of C, for bind rounds alone; elsewhere a tile is forgotten once it is fingerprinted. */
    c: arena.take(mode === 'bind' ? tiles * TILE_BYTES : 0),
    fingerprints: arena.take(tiles * FINGERPRINT_BYTES),
    tree: arena.take(treeBytes(tiles)),
    /** One tile and its kept words for each thread. */
    scratch: arena.take(threads * ROUNDS_SCRATCH_BYTES),
  }
  return { layout, bytes: arena.size() }
}

export const ROUNDS_SCRATCH_BYTES = TILE_BYTES + KEPT_TILE_BYTES

export const passesScratchBytes = (tilesPerRound: number): number => 2 * KEPT_TILE_BYTES + treeBytes(tilesPerRound)

export function passesLayout(tiles: number, tilesPerRound: number, threads: number) {
  const arena = openArena(threads)
  const layout = {
    z: arena.take(HASH_BYTES),
    masks: arena.take(KEPT_TILE_BYTES),
    fingerprints: arena.take(tiles * FINGERPRINT_BYTES),
    /** Tree over the roots of the kept rounds, padded with zero hashes. */
    crown: arena.take(treeBytes(paddedRounds(tiles / tilesPerRound))),
    q: arena.take(HASH_BYTES),
    /** A tile, its partner and the tree of one kept round for each thread. */
    scratch: arena.take(threads * passesScratchBytes(tilesPerRound)),
  }
  return { layout, bytes: arena.size() }
}

export const pathsScratchBytes = (leaves: number): number => leaves * FINGERPRINT_BYTES + treeBytes(leaves)

export function pathsLayout(leaves: number, threads: number) {
  const arena = openArena(threads)
  return { scratch: arena.take(threads * pathsScratchBytes(leaves)), bytes: arena.size() }
}
