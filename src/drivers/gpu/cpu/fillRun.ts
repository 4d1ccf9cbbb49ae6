import { concatBytes } from '../../../core/bytes/bytes.ts'
import { KEPT_TILE_BYTES, TILE } from '../../../core/params/constants.ts'
import { buildTree, padRoots, pathOf } from '../../../core/proof/merkle.ts'
import { passWords } from '../../../core/proof/seeds.ts'
import type { FillTask, LeafPosition, OnRoot } from '../../../ports/device.ts'
import { fault, sizeRefused } from './faults.ts'
import { type Host, requireCount, requireSeed, requireShape } from './host.ts'
import type { FillBuffers, PassesJob } from './jobs.ts'
import { FINGERPRINT_BYTES, passesLayout } from './layout.ts'
import { pathsOf } from './pathsOf.ts'
import { requireFree } from './pool.ts'
import { runRounds } from './seriesRun.ts'

/** §7. The kept words of all rounds, and the fingerprints under their roots. */
export interface FillRun {
  readonly tilesPerRound: number
  readonly buffers: FillBuffers
  readonly store: SharedArrayBuffer
}

/** Passes over a fill: fingerprints of the first ones, kept rounds' roots of all, and the words to make any again. */
export interface PassRun {
  readonly fill: FillRun
  readonly peer: FillRun
  readonly passes: number
  readonly words: readonly Uint8Array[]
  readonly store: SharedArrayBuffer
  readonly stored: number
  readonly roots: SharedArrayBuffer
}

const LARGEST_BUFFER_BYTES = 2 ** 30

function newBuffers(tiles: number): FillBuffers {
  const tilesPerBuffer = Math.min(tiles, LARGEST_BUFFER_BYTES / KEPT_TILE_BYTES)
  requireFree(tiles * KEPT_TILE_BYTES)
  try {
    const buffers = Array.from({ length: Math.ceil(tiles / tilesPerBuffer) }, (_, i) => {
      const held = Math.min(tilesPerBuffer, tiles - i * tilesPerBuffer)
      return new SharedArrayBuffer(held * KEPT_TILE_BYTES)
    })
    return { buffers, tilesPerBuffer, tiles }
  } catch (cause) {
    throw fault('OUT_OF_MEMORY', { askedBytes: tiles * KEPT_TILE_BYTES, freeBytes: 0 }, cause)
  }
}

export async function runFill(host: Host, task: FillTask, onRoot: OnRoot, signal: AbortSignal): Promise<FillRun> {
  requireShape(task)
  requireCount('kept', task.kept)
  requireSeed('seed', task.seed)
  const tilesPerRound = (task.m / TILE) * (task.n / TILE)
  // §7 Partners are drawn with 32 bits.
  if (tilesPerRound * task.kept >= 2 ** 32)
    throw sizeRefused('tiles of the fill', tilesPerRound * task.kept, 'below 2^32')
  const buffers = newBuffers(tilesPerRound * task.kept)
  const { m, n, k, kept, seed } = task
  const request = { mode: 'fill', precision: 'int8', m, n, k, seed, rounds: kept, stored: kept, fill: buffers } as const
  return { tilesPerRound, buffers, store: await runRounds(host, request, onRoot, signal) }
}

interface PassesRequest {
  readonly fill: FillRun
  readonly peer: FillRun
  readonly first: number
  readonly passes: number
  readonly start: Uint8Array
  readonly stored: number
}

async function passOver({ pool }: Host, request: PassesRequest, onRoot: OnRoot, signal: AbortSignal) {
  const { fill, peer, first, passes, start, stored } = request
  const { tiles } = fill.buffers
  const { layout, bytes } = passesLayout(tiles, fill.tilesPerRound, pool.threads)
  const rootsBytes = passes * (tiles / fill.tilesPerRound) * 32
  requireFree(stored * tiles * FINGERPRINT_BYTES + rootsBytes)
  const store = new SharedArrayBuffer(stored * tiles * FINGERPRINT_BYTES)
  const roots = new SharedArrayBuffer(rootsBytes)
  pool.prepare(bytes).set(start, layout.z)
  const job: PassesJob = {
    kind: 'passes',
    first,
    passes,
    tilesPerRound: fill.tilesPerRound,
    layout,
    own: fill.buffers,
    peer: peer.buffers,
    store,
    stored,
    roots,
  }
  await pool.run(job, onRoot, signal)
  return { store, roots }
}

export async function runPasses(
  host: Host,
  task: Pick<PassRun, 'fill' | 'peer' | 'passes'> & { readonly start: Uint8Array },
  onRoot: OnRoot,
  signal: AbortSignal,
): Promise<PassRun> {
  requireCount('passes', task.passes)
  requireSeed('start', task.start)
  const { tiles } = task.fill.buffers
  const stored = Math.min(task.passes, Math.floor(host.keepBytes / (tiles * FINGERPRINT_BYTES)))
  const passRoots: Uint8Array[] = []
  const keepRoot: OnRoot = (root) => {
    passRoots.push(root)
    onRoot(root)
  }
  const held = await passOver(host, { ...task, first: 0, stored }, keepRoot, signal)
  const { fill, peer, passes } = task
  return { fill, peer, passes, words: passWords(task.start, passRoots), stored, ...held }
}

export async function openPasses(
  host: Host,
  run: PassRun,
  asked: readonly LeafPosition[],
  signal: AbortSignal,
): Promise<Uint8Array> {
  const { tiles } = run.fill.buffers
  for (const { round, tile } of asked) {
    if (!(round >= 0 && round < run.passes)) throw sizeRefused('pass', round, `below ${run.passes}`)
    if (!(tile >= 0 && tile < tiles)) throw sizeRefused('tile', tile, `below ${tiles}`)
  }
  const { tilesPerRound, store: fillStore } = run.fill
  const stores = new Map<number, { store: SharedArrayBuffer; offset: number }>()
  for (const pass of new Set(asked.map(({ round }) => round)))
    stores.set(pass, await fingerprintsOf(host, run, pass, signal))
  const places = asked.map(({ round: pass, tile: u }) => {
    const base = Math.floor(u / tilesPerRound) * tilesPerRound
    const { store, offset } = stores.get(pass)!
    return { store, offset: offset + base * FINGERPRINT_BYTES, base, index: u - base }
  })
  const inPasses = await pathsOf(host, tilesPerRound, places, signal)
  const kept = places.map(({ base, index }) => ({ store: fillStore, offset: base * FINGERPRINT_BYTES, base: 0, index }))
  const inRounds = await pathsOf(host, tilesPerRound, kept, signal)
  const overRoots = crownPaths(run)
  return concatBytes(
    ...asked.flatMap(({ round, tile }, i) => {
      const keptRound = Math.floor(tile / tilesPerRound)
      return [inPasses[i]!, overRoots(round, keptRound), inRounds[i]!]
    }),
  )
}

/** Paths over the roots of the kept rounds of a pass, padded to a power of two (§7). */
function crownPaths({ fill, roots }: PassRun): (pass: number, keptRound: number) => Uint8Array {
  const rounds = fill.buffers.tiles / fill.tilesPerRound
  const trees = new Map<number, ReturnType<typeof buildTree>>()
  return (pass, keptRound) => {
    const made = trees.get(pass) ?? buildTree(padRoots(rootsOf(roots, pass, rounds)))
    trees.set(pass, made)
    return pathOf(made, keptRound)
  }
}

const rootsOf = (roots: SharedArrayBuffer, pass: number, rounds: number): Uint8Array[] =>
  Array.from({ length: rounds }, (_, i) => new Uint8Array(roots, 32 * (pass * rounds + i), 32).slice())

/** Kept, or made again from the words of the pass. */
async function fingerprintsOf(host: Host, run: PassRun, pass: number, signal: AbortSignal) {
  if (pass < run.stored) return { store: run.store, offset: pass * run.fill.buffers.tiles * FINGERPRINT_BYTES }
  const { fill, peer, words } = run
  const again = { fill, peer, first: pass, passes: 1, start: words[pass]!, stored: 1 }
  return { store: (await passOver(host, again, () => {}, signal)).store, offset: 0 }
}
