import type { Precision } from '../../../core/params/precision.ts'
import { ENTRY_BYTES } from '../../../core/proof/sizeClass.ts'
import type { SeriesTask } from '../../../ports/device.ts'
import { tilesOf } from '../tasks.ts'

/** Leaves one block of threads makes, and leaves under a node of a plain round; leaves.h knows the same numbers. */
export const UNIT = 256
const GROUP = 8
/** Rows and columns that the kernels take at least. */
export const LEAST_SIZE = 64
/** Nodes one block folds into one at most, and its threads; treeTop.h. */
export const FOLD = 256
export const FOLD_THREADS = 128

export type SeriesShape = Omit<SeriesTask, 'seed' | 'kind'> & { readonly kind: SeriesTask['kind'] | 'fill' }

export const entryBytes = (precision: Precision): number => ENTRY_BYTES[precision]
/** Leaves of one block: 256, or all there are. */
export const unitOf = (tiles: number): number => Math.min(UNIT, tiles)
export const unitsOf = (tiles: number): number => tiles / unitOf(tiles)
/** Leaves under one node that the leaves kernel writes: plain rounds leave the upper levels to later launches. */
export const groupOf = ({ kind, m, n }: SeriesShape): number =>
  Math.min(kind === 'rounds' ? GROUP : UNIT, tilesOf({ m, n }))
export const nodesOf = (shape: SeriesShape): number => tilesOf(shape) / groupOf(shape)

export function operandBytes({ m, n, k, precision }: SeriesShape): { a: number; b: number; c: number } {
  return { a: m * k * entryBytes(precision), b: n * k * entryBytes(precision), c: m * n * 4 }
}

/** Widths whose product is `count`, each at most FOLD: how many neighbours each launch folds into one. */
export function foldWidths(count: number): number[] {
  const widths: number[] = []
  for (let left = count; left > 1; left /= widths.at(-1)!) widths.push(Math.min(FOLD, left))
  return widths.length === 0 ? [1] : widths
}
