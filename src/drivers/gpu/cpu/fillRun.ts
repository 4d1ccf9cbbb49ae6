import { concatBytes } from '../../../core/bytes/bytes.ts'
import { KEPT_TILE_BYTES, TILE } from '../../../core/params/constants.ts'
import { buildTree, padRoots, pathOf } from '../../../core/proof/merkle.ts'
import { passWords } from '../../../core/proof/seeds.ts'
import type { FillTask, LeafPosition, OnRoot, PassTask } from '../../../ports/device.ts'
import { keepRoots, refuseCount, refusePositions, refuseSeed, refuseShape, sizeRefused, tilesOf } from '../tasks.ts'
import { fault } from './faults.ts'
import type { FillBuffers, PassesJob } from './jobs.ts'
import { FINGERPRINT_BYTES, passesLayout } from './layout.ts'
import { type Host, pathsOf, placesOf } from './pathsOf.ts'
import { requireFree } from './pool.ts'
import { runRounds } from './seriesRun.ts'

/** §7. The kept words of all rounds, and the fingerprints under their roots. */
export type FillRun = Awaited<ReturnType<typeof runFill>>

/** Passes over a fill: fingerprints of the first ones, kept rounds' roots of all, and the words to make any again. */
export type PassRun = Awaited<ReturnType<typeof runPasses>>

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

export async function runFill(host: Host, task: FillTask, onRoot: OnRoot, signal: AbortSignal) {
  refuseShape(task, TILE)
  refuseCount('kept', task.kept)
  refuseSeed('seed', task.seed)
  const tilesPerRound = tilesOf(task)
  // §7 Partners are drawn with 32 bits.
  if (tilesPerRound * task.kept >= 2 ** 32)
    throw sizeRefused('tiles of the fill', tilesPerRound * task.kept, 'below 2^32')
  const buffers = newBuffers(tilesPerRound * task.kept)
  const { m, n, k, kept, seed } = task
  const request = { mode: 'fill', precision: 'int8', m, n, k, seed, rounds: kept, stored: kept, fill: buffers } as const
  return { tilesPerRound, buffers, store: await runRounds(host, request, onRoot, signal) }
}

interface Fills {
  readonly fill: FillRun
  readonly peer: FillRun
}
type Passes = Pick<PassesJob, 'first' | 'passes' | 'stored'> & { readonly start: Uint8Array }

async function passOver({ pool }: Host, { fill, peer }: Fills, passes: Passes, onRoot: OnRoot, signal: AbortSignal) {
  const { buffers: own, tilesPerRound } = fill
  const { start, ...counts } = passes
  const { layout, bytes } = passesLayout(own.tiles, tilesPerRound, pool.threads)
  const storeBytes = counts.stored * own.tiles * FINGERPRINT_BYTES
  const rootsBytes = counts.passes * (own.tiles / tilesPerRound) * 32
  requireFree(storeBytes + rootsBytes)
  const held = { store: new SharedArrayBuffer(storeBytes), roots: new SharedArrayBuffer(rootsBytes) }
  pool.prepare(bytes).set(start, layout.z)
  const job: PassesJob = { kind: 'passes', ...counts, tilesPerRound, layout, own, peer: peer.buffers, ...held }
  await pool.run(job, onRoot, signal)
  return held
}

type Asked = Fills & Pick<PassTask, 'passes' | 'start' | 'joint'>

export async function runPasses(host: Host, { joint, ...asked }: Asked, onRoot: OnRoot, signal: AbortSignal) {
  const { passes, start, ...fills } = asked
  refuseCount('passes', passes)
  refuseSeed('start', start)
  if (joint) return await runJointly(host, { ...asked, joint }, onRoot, signal)
  const bytes = fills.fill.buffers.tiles * FINGERPRINT_BYTES
  const stored = Math.min(passes, Math.floor(host.keepBytes / bytes))
  const { roots, keep } = keepRoots(onRoot)
  const held = await passOver(host, fills, { first: 0, passes, start, stored }, keep, signal)
  return { fills, passes, words: passWords(start, roots), stored, bytes, ...held }
}

/** Pass by pass, each from the roots of all devices; no fingerprints are kept, since any pass can be made again. */
async function runJointly(
  host: Host,
  { passes, start, joint, ...fills }: Asked & Required<Pick<PassTask, 'joint'>>,
  onRoot: OnRoot,
  signal: AbortSignal,
) {
  const { tiles } = fills.fill.buffers
  const roots = new SharedArrayBuffer(32 * passes * (tiles / fills.fill.tilesPerRound))
  const words = [start]
  for (let pass = 0; pass < passes; pass++) {
    const z = words[pass]!
    const { roots: made, keep } = keepRoots(onRoot)
    const held = await passOver(host, fills, { first: pass, passes: 1, start: z, stored: 0 }, keep, signal)
    new Uint8Array(roots, pass * held.roots.byteLength).set(new Uint8Array(held.roots))
    joint.passes.put(joint.place, pass, made[0]!)
    if (pass === passes - 1) break
    await joint.passes.over(pass, signal)
    words.push(joint.passes.next(z, pass))
  }
  const none = { stored: 0, bytes: tiles * FINGERPRINT_BYTES, store: new SharedArrayBuffer(0) }
  return { fills, passes, words, ...none, roots }
}

export async function openPasses(
  host: Host,
  run: PassRun,
  asked: readonly LeafPosition[],
  signal: AbortSignal,
): Promise<Uint8Array> {
  const { tilesPerRound, store: fillStore, buffers } = run.fills.fill
  refusePositions(asked, run.passes, buffers.tiles)
  const placeOf = await placesOf(asked, run, async (first) => {
    const pass = { first, passes: 1, stored: 1, start: run.words[first]! }
    return (await passOver(host, run.fills, pass, () => {}, signal)).store
  })
  const places = asked.map(({ round: pass, tile: u }) => {
    const base = Math.floor(u / tilesPerRound) * tilesPerRound
    const { store, offset } = placeOf(pass)
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
function crownPaths({ fills: { fill }, roots }: PassRun): (pass: number, keptRound: number) => Uint8Array {
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
