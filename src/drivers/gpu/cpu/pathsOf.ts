import type { Host } from './host.ts'
import type { PathGroup } from './jobs.ts'
import { pathsLayout } from './layout.ts'

/** A leaf in the tree over `leaves` fingerprints that begin at `offset` of `store`. */
export interface LeafPlace {
  readonly store: SharedArrayBuffer
  readonly offset: number
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
