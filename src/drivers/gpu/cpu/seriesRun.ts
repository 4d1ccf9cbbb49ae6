import { concatBytes } from '../../../core/bytes/bytes.ts'
import { TILE } from '../../../core/params/constants.ts'
import { PRECISIONS } from '../../../core/params/precision.ts'
import { seriesSeeds } from '../../../core/proof/seeds.ts'
import type { LeafPosition, OnRoot, SeriesTask } from '../../../ports/device.ts'
import { sizeRefused } from './faults.ts'
import { type Host, requireCount, requireSeed, requireShape } from './host.ts'
import type { FillBuffers, RoundsJob } from './jobs.ts'
import { FINGERPRINT_BYTES, roundsLayout } from './layout.ts'
import { pathsOf } from './pathsOf.ts'
import { requireFree } from './pool.ts'

/** What a series leaves behind: the fingerprints of its first rounds, and the seeds from which the rest comes again. */
export interface SeriesRun {
  readonly task: SeriesTask
  readonly tiles: number
  readonly seeds: readonly Uint8Array[]
  readonly store: SharedArrayBuffer
  readonly stored: number
}

export interface RoundsRequest extends Omit<SeriesTask, 'kind'> {
  readonly mode: RoundsJob['mode']
  /** Rounds whose fingerprints are kept. */
  readonly stored: number
  readonly fill?: FillBuffers
}

/** Runs rounds on all threads; the roots come as they are made. */
export async function runRounds(
  { pool }: Host,
  request: RoundsRequest,
  onRoot: OnRoot,
  signal: AbortSignal,
): Promise<SharedArrayBuffer> {
  const { mode, m, n, k, rounds, stored, seed, fill = null } = request
  const { code: precision } = PRECISIONS[request.precision]
  const { layout, bytes } = roundsLayout({ mode, precision, m, n, k }, pool.threads)
  const storeBytes = stored * (m / TILE) * (n / TILE) * FINGERPRINT_BYTES
  requireFree(storeBytes)
  const store = new SharedArrayBuffer(storeBytes)
  pool.prepare(bytes).set(seed, layout.seed)
  const job: RoundsJob = { kind: 'rounds', mode, precision, m, n, k, rounds, layout, store, stored, fill }
  await pool.run(job, onRoot, signal)
  return store
}

export async function runSeries(host: Host, task: SeriesTask, onRoot: OnRoot, signal: AbortSignal): Promise<SeriesRun> {
  requireShape(task)
  requireCount('rounds', task.rounds)
  requireSeed('seed', task.seed)
  const tiles = (task.m / TILE) * (task.n / TILE)
  const stored = Math.min(task.rounds, Math.floor(host.keepBytes / (tiles * FINGERPRINT_BYTES)))
  const roots: Uint8Array[] = []
  const keepRoot: OnRoot = (root) => {
    roots.push(root)
    onRoot(root)
  }
  const store = await runRounds(host, { ...task, mode: task.kind, stored }, keepRoot, signal)
  return { task, tiles, seeds: seriesSeeds(task.seed, roots), store, stored }
}

export async function openSeries(
  host: Host,
  series: SeriesRun,
  asked: readonly LeafPosition[],
  signal: AbortSignal,
): Promise<Uint8Array> {
  const { task, tiles } = series
  for (const { round, tile } of asked) {
    if (!(round >= 0 && round < task.rounds)) throw sizeRefused('round', round, `below ${task.rounds}`)
    if (!(tile >= 0 && tile < tiles)) throw sizeRefused('tile', tile, `below ${tiles}`)
  }
  const stores = new Map<number, { store: SharedArrayBuffer; offset: number }>()
  for (const round of new Set(asked.map(({ round }) => round)))
    stores.set(round, await fingerprintsOf(host, series, round, signal))
  const places = asked.map(({ round, tile }) => ({ ...stores.get(round)!, base: 0, index: tile }))
  return concatBytes(...(await pathsOf(host, tiles, places, signal)))
}

/** Kept, or made again from the round's seed. */
async function fingerprintsOf(
  host: Host,
  { task, seeds, store, stored, tiles }: SeriesRun,
  round: number,
  signal: AbortSignal,
) {
  if (round < stored) return { store, offset: round * tiles * FINGERPRINT_BYTES }
  const again = { ...task, mode: task.kind, rounds: 1, stored: 1, seed: seeds[round]! }
  return { store: await runRounds(host, again, () => {}, signal), offset: 0 }
}
