import { KEPT_TILE_BYTES, TILE } from '../../../core/params/constants.ts'
import { MATRIX_A, MATRIX_B } from '../../../core/proof/entries.ts'
import { tilesOf } from '../tasks.ts'
import type { RoundsJob } from './jobs.ts'
import { entryBytes, FINGERPRINT_BYTES, ROUNDS_SCRATCH_BYTES, TILE_BYTES, treeBytes } from './layout.ts'
import { chunkOf, keptBytes, type Thread, takeAll, word } from './thread.ts'

/** A whole series without the main thread: all threads share each round and meet where it must be complete (§4.2). */
export function computeRounds(thread: Thread, job: RoundsJob): void {
  const { control, threads, kernels, bytes } = thread
  const { layout } = job
  const tiles = tilesOf(job)
  const chunk = chunkOf(tiles, threads)
  const newMasks = () => kernels.masks(word(bytes, layout.seed + 12), TILE * TILE, layout.masks)
  const root = layout.tree + treeBytes(tiles) - 64
  for (let round = 0; round < job.rounds; round++) {
    makeEntries(thread, job)
    control.barrier(threads, newMasks)
    multiply(thread, job, { round, tiles, chunk })
    if (job.mode === 'bind') {
      control.barrier(threads)
      bindTiles(thread, job, tiles, chunk)
    }
    control.barrier(threads, () => {
      kernels.crown(tiles, chunk, layout.tree)
      storeFingerprints(thread, job, round, tiles)
      kernels.nextSeed(layout.seed, root, layout.seed)
    })
    if (control.stopped) return
    if (thread.index === 0) thread.post({ kind: 'root', root: bytes.slice(root, root + 32) })
  }
}

/** 32 rows of A or of B to a piece. */
function makeEntries(thread: Thread, { precision, m, n, k, layout }: RoundsJob): void {
  const rowBytes = k * entryBytes(precision)
  takeAll(thread, (m + n) / TILE, (piece) => {
    const inA = piece < m / TILE
    const row = TILE * (inA ? piece : piece - m / TILE)
    const out = (inA ? layout.a : layout.b) + row * rowBytes
    thread.kernels.entries(layout.seed, inA ? MATRIX_A : MATRIX_B, precision, row, TILE, k, out)
  })
}

interface RoundPlace {
  readonly round: number
  readonly tiles: number
  readonly chunk: number
}

function multiply(thread: Thread, job: RoundsJob, { round, tiles, chunk }: RoundPlace): void {
  const { kernels, control } = thread
  const { layout, precision, k, mode } = job
  const columns = job.n / TILE
  const stripBytes = TILE * k * entryBytes(precision)
  const own = layout.scratch + thread.index * ROUNDS_SCRATCH_BYTES
  takeAll(thread, tiles / chunk, (piece) => {
    for (let tile = piece * chunk; tile < (piece + 1) * chunk && !control.cancelled; tile++) {
      const out = mode === 'bind' ? layout.c + tile * TILE_BYTES : own
      const a = layout.a + Math.floor(tile / columns) * stripBytes
      kernels.product(precision, a, layout.b + (tile % columns) * stripBytes, k, out)
      if (mode === 'bind') continue
      kernels.fingerprintTile(out, layout.masks, layout.fingerprints + tile * FINGERPRINT_BYTES)
      if (mode === 'fill') keepTile(thread, job, out, round * tiles + tile)
    }
    if (mode !== 'bind') kernels.subtree(layout.fingerprints, 0, tiles, piece * chunk, chunk, layout.tree)
  })
}

/** §7. The low 16 bits of the tile, to its place in the fill. */
function keepTile({ kernels, bytes }: Thread, { fill }: RoundsJob, tile: number, u: number): void {
  const kept = tile + TILE_BYTES
  kernels.keep(tile, kept)
  keptBytes(fill!, u).set(bytes.subarray(kept, kept + KEPT_TILE_BYTES))
}

/** §8. Partners may lie anywhere in C, so this begins when all of C is there. */
function bindTiles(thread: Thread, { layout }: RoundsJob, tiles: number, chunk: number): void {
  const { kernels, bytes, control } = thread
  const [first, second] = [word(bytes, layout.seed + 16), word(bytes, layout.seed + 20)]
  takeAll(thread, tiles / chunk, (piece) => {
    for (let tile = piece * chunk; tile < (piece + 1) * chunk && !control.cancelled; tile++) {
      const partner = kernels.partner(tile, first, second, tiles) >>> 0
      const out = layout.fingerprints + tile * FINGERPRINT_BYTES
      const own = layout.c + tile * TILE_BYTES
      kernels.fingerprintPair(own, layout.c + partner * TILE_BYTES, layout.masks, TILE * TILE, out)
    }
    kernels.subtree(layout.fingerprints, 0, tiles, piece * chunk, chunk, layout.tree)
  })
}

function storeFingerprints(
  { bytes }: Thread,
  { layout, store, stored }: RoundsJob,
  round: number,
  tiles: number,
): void {
  if (round >= stored) return
  const size = tiles * FINGERPRINT_BYTES
  new Uint8Array(store, round * size, size).set(bytes.subarray(layout.fingerprints, layout.fingerprints + size))
}
