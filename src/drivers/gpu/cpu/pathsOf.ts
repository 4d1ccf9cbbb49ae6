import type { LeafPosition } from '../../../ports/device.ts'
import type { PathGroup } from './jobs.ts'
import { pathsLayout } from './layout.ts'
import type { Pool } from './pool.ts'

/** What a run of the device works with. */
export interface Host {
  readonly pool: Pool
  /** Bytes of fingerprints that may be kept for openings. */
  readonly keepBytes: number
}

/** Where the fingerprints of a round or pass begin. */
interface Place {
  readonly store: SharedArrayBuffer
  readonly offset: number
}

/** A leaf in the tree over `leaves` fingerprints that begin at `offset` of `store`. */
interface LeafPlace extends Place {
  readonly base: number
  readonly index: number
}

/** Paths from leaf to root, one for each place, in their order; each tree is rebuilt once. */
export async function pathsOf(
  { pool }: Host,
  leaves: number,
  places: readonly LeafPlace[],
  signal: AbortSignal,
): Promise<Uint8Array[]> {
  const pathBytes = 32 * Math.log2(leaves)
  const out = new SharedArrayBuffer(places.length * pathBytes)
  const { scratch, bytes } = pathsLayout(leaves, pool.threads)
  pool.prepare(bytes)
  await pool.run({ kind: 'paths', leaves, groups: groupsOf(places, pathBytes), scratch, out }, () => {}, signal)
  const all = new Uint8Array(out).slice()
  return places.map((_, i) => all.subarray(i * pathBytes, (i + 1) * pathBytes))
}

function groupsOf(places: readonly LeafPlace[], pathBytes: number): PathGroup[] {
  const trees = new Map<SharedArrayBuffer, Map<number, PathGroup & { leaves: { index: number; to: number }[] }>>()
  for (const [i, { store, offset, base, index }] of places.entries()) {
    const inStore = trees.get(store) ?? new Map()
    trees.set(store, inStore)
    const group = inStore.get(offset) ?? { store, offset, base, leaves: [] }
    inStore.set(offset, group)
    group.leaves.push({ index, to: i * pathBytes })
  }
  return [...trees.values()].flatMap((inStore) => [...inStore.values()])
}

/** Fingerprints of each asked round or pass, `bytes` long: the first `stored` are kept, the others are made again, each once. */
export async function placesOf(
  asked: readonly LeafPosition[],
  { store, stored, bytes }: { readonly store: SharedArrayBuffer; readonly stored: number; readonly bytes: number },
  again: (round: number) => Promise<SharedArrayBuffer>,
): Promise<(round: number) => Place> {
  const places = new Map<number, Place>()
  for (const { round } of asked)
    if (!places.has(round))
      places.set(round, round < stored ? { store, offset: round * bytes } : { store: await again(round), offset: 0 })
  return (round) => places.get(round)!
}
