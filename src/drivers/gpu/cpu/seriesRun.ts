import { concatBytes } from '../../../core/bytes/bytes.ts'
import { TILE } from '../../../core/params/constants.ts'
import { PRECISIONS } from '../../../core/params/precision.ts'
import { seriesSeeds } from '../../../core/proof/seeds.ts'
import type { LeafPosition, OnRoot, SeriesTask } from '../../../ports/device.ts'
import { keepRoots, refuseCount, refusePositions, refuseSeed, refuseShape, tilesOf } from '../tasks.ts'
import type { FillBuffers, RoundsJob } from './jobs.ts'
import { FINGERPRINT_BYTES, roundsLayout } from './layout.ts'
import { type Host, pathsOf, placesOf } from './pathsOf.ts'
import { requireFree } from './pool.ts'

/** What a series leaves behind: the fingerprints of its first rounds, and the seeds from which the rest comes again. */
export type SeriesRun = Awaited<ReturnType<typeof runSeries>>

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
  const storeBytes = stored * tilesOf(request) * FINGERPRINT_BYTES
  requireFree(storeBytes)
  const store = new SharedArrayBuffer(storeBytes)
  pool.prepare(bytes).set(seed, layout.seed)
  const job: RoundsJob = { kind: 'rounds', mode, precision, m, n, k, rounds, layout, store, stored, fill }
  await pool.run(job, onRoot, signal)
  return store
}

export async function runSeries(host: Host, task: SeriesTask, onRoot: OnRoot, signal: AbortSignal) {
  refuseShape(task, TILE)
  refuseCount('rounds', task.rounds)
  refuseSeed('seed', task.seed)
  const tiles = tilesOf(task)
  const bytes = tiles * FINGERPRINT_BYTES
  const stored = Math.min(task.rounds, Math.floor(host.keepBytes / bytes))
  const { roots, keep } = keepRoots(onRoot)
  const store = await runRounds(host, { ...task, mode: task.kind, stored }, keep, signal)
  return { task, tiles, seeds: seriesSeeds(task.seed, roots), store, stored, bytes }
}

export async function openSeries(
  host: Host,
  series: SeriesRun,
  asked: readonly LeafPosition[],
  signal: AbortSignal,
): Promise<Uint8Array> {
  const { task, tiles, seeds } = series
  refusePositions(asked, task.rounds, tiles)
  const again = { ...task, mode: task.kind, rounds: 1, stored: 1 }
  const placeOf = await placesOf(asked, series, (round) =>
    runRounds(host, { ...again, seed: seeds[round]! }, () => {}, signal),
  )
  const places = asked.map(({ round, tile }) => ({ ...placeOf(round), base: 0, index: tile }))
  return concatBytes(...(await pathsOf(host, tiles, places, signal)))
}
