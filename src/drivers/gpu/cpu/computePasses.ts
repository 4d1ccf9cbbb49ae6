import { KEPT_TILE_BYTES, KEPT_TILE_WORDS } from '../../../core/params/constants.ts'
import type { FillPieces } from '../../system/nativeKernels.ts'
import { paddedRounds } from '../tasks.ts'
import type { FillBuffers, PassesJob } from './jobs.ts'
import { FINGERPRINT_BYTES, passesScratchBytes, treeBytes } from './layout.ts'
import { chunkOf, keptBytes, type Thread, takeAll, word } from './thread.ts'

/** §7, §8. Every pass reads each tile and a partner anywhere in the memory, and is committed before the next begins. */
export function computePasses(thread: Thread, job: PassesJob): void {
  const { control, threads, kernels, bytes } = thread
  const { layout } = job
  const rounds = job.own.tiles / job.tilesPerRound
  const newMasks = () => kernels.masks(word(bytes, layout.z + 8), KEPT_TILE_WORDS, layout.masks)
  const pair = pairing(thread, job)
  control.barrier(threads, newMasks)
  for (let pass = 0; pass < job.passes; pass++) {
    readTiles(thread, job, pair)
    control.barrier(threads)
    hashRounds(thread, job, rounds)
    control.barrier(threads, () => {
      finishPass(thread, job, pass, rounds)
      newMasks()
    })
    if (control.stopped) return
    if (thread.index === 0) thread.post({ kind: 'root', root: bytes.slice(layout.q, layout.q + 32) })
  }
}

function readTiles(thread: Thread, { own }: PassesJob, pair: Pair): void {
  const chunk = chunkOf(own.tiles, thread.threads)
  takeAll(thread, Math.ceil(own.tiles / chunk), (piece) =>
    pair(piece * chunk, Math.min(own.tiles, (piece + 1) * chunk)),
  )
}

/** Fingerprints tiles `first` to `end` (excluded) with their partners, under the words and masks of the pass. */
type Pair = (first: number, end: number) => void

function pairing(thread: Thread, { layout, own, peer, tilesPerRound }: PassesJob): Pair {
  const { kernels, bytes, control } = thread
  if ('passOver' in kernels) return kernels.passOver(piecesOf(own), piecesOf(peer), layout)
  // The module sees no memory but its own: both tiles are copied there.
  const mine = layout.scratch + thread.index * passesScratchBytes(tilesPerRound)
  const theirs = mine + KEPT_TILE_BYTES
  return (start, end) => {
    const [first, second] = [word(bytes, layout.z), word(bytes, layout.z + 4)]
    for (let u = start; u < end && !control.cancelled; u++) {
      bytes.set(keptBytes(own, u), mine)
      bytes.set(keptBytes(peer, kernels.partner(u, first, second, peer.tiles) >>> 0), theirs)
      const out = layout.fingerprints + u * FINGERPRINT_BYTES
      kernels.fingerprintPair(mine, theirs, layout.masks, KEPT_TILE_WORDS, out)
    }
  }
}

const piecesOf = ({ buffers, tilesPerBuffer, tiles }: FillBuffers): FillPieces => ({
  pieces: buffers.map((buffer) => new Uint8Array(buffer)),
  tilesPerPiece: tilesPerBuffer,
  tiles,
})

/** One tree per kept round; leaves carry u, their place in the whole fill. */
function hashRounds(thread: Thread, { layout, tilesPerRound }: PassesJob, rounds: number): void {
  const { kernels, bytes } = thread
  const tree = layout.scratch + thread.index * passesScratchBytes(tilesPerRound) + 2 * KEPT_TILE_BYTES
  const root = tree + treeBytes(tilesPerRound) - 64
  takeAll(thread, rounds, (round) => {
    const base = round * tilesPerRound
    kernels.subtree(layout.fingerprints + base * FINGERPRINT_BYTES, base, tilesPerRound, 0, tilesPerRound, tree)
    bytes.copyWithin(layout.crown + 32 * round, root, root + 32)
  })
}

function finishPass({ kernels, bytes }: Thread, job: PassesJob, pass: number, rounds: number): void {
  const { layout, store, stored, roots, own } = job
  const padded = paddedRounds(rounds)
  bytes.fill(0, layout.crown + 32 * rounds, layout.crown + 32 * padded)
  kernels.crown(padded, 1, layout.crown)
  kernels.passRoot(job.first + pass, layout.crown + treeBytes(padded) - 64, layout.q)
  kernels.nextPass(layout.z, layout.q, layout.z)
  new Uint8Array(roots, pass * rounds * 32).set(bytes.subarray(layout.crown, layout.crown + 32 * rounds))
  if (pass >= stored) return
  const size = own.tiles * FINGERPRINT_BYTES
  new Uint8Array(store, pass * size, size).set(bytes.subarray(layout.fingerprints, layout.fingerprints + size))
}
