import { TILE } from '../../../core/params/constants.ts'
import type { Precision } from '../../../core/params/precision.ts'
import { ENTRY_BYTES } from '../../../core/proof/sizeClass.ts'
import type { LeafPosition, SeriesTask } from '../../../ports/device.ts'
import type { TouchstoneError } from '../../../ports/errors.ts'
import { portFault } from '../../../ports/faults.ts'

/** Leaves one block of threads makes, and leaves under a node of a plain round; leaves.h knows the same numbers. */
export const UNIT = 256
const GROUP = 8
/** Nodes one block folds into one at most, and its threads; treeTop.h. */
export const FOLD = 256
export const FOLD_THREADS = 128

export type SeriesShape = Omit<SeriesTask, 'seed' | 'kind'> & { readonly kind: SeriesTask['kind'] | 'fill' }

export const entryBytes = (precision: Precision): number => ENTRY_BYTES[precision]
export const tilesOf = ({ m, n }: { m: number; n: number }): number => (m / TILE) * (n / TILE)
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

const isSize = (value: number): boolean => value >= 64 && value <= 32768 && Number.isInteger(Math.log2(value))

/** Sizes the kernels take (§4.0): powers of two from 64 to 32768. */
export function refuseShape({ m, n, k, rounds }: SeriesShape): void {
  for (const [what, size] of Object.entries({ m, n, k }))
    if (!isSize(size)) throw sizeRefused(what, size, 'a power of two from 64 to 32768')
  refuseCount('rounds', rounds)
}

export function refuseCount(what: string, count: number): void {
  if (!Number.isInteger(count) || count < 1 || count > 2 ** 24)
    throw sizeRefused(what, count, 'a whole number from 1 to 2^24')
}

export function refuseSeed(what: string, seed: Uint8Array): void {
  if (seed.length !== 32) throw sizeRefused(what, seed.length, '32 bytes')
}

/** Openings must lie inside what was run. */
export function refusePositions(asked: readonly LeafPosition[], rounds: number, tiles: number): void {
  const inside = (value: number, limit: number) => Number.isInteger(value) && value >= 0 && value < limit
  for (const { round, tile } of asked) {
    if (!inside(round, rounds)) throw sizeRefused('round', round, `below ${rounds}`)
    if (!inside(tile, tiles)) throw sizeRefused('tile', tile, `below ${tiles}`)
  }
}

const sizeRefused = (what: string, got: number, expected: string): TouchstoneError =>
  portFault('SIZE_REFUSED', { device: 'the card', what, got, expected })

/** Widths whose product is `count`, each at most FOLD: how many neighbours each launch folds into one. */
export function foldWidths(count: number): number[] {
  const widths: number[] = []
  for (let left = count; left > 1; left /= widths.at(-1)!) widths.push(Math.min(FOLD, left))
  return widths.length === 0 ? [1] : widths
}
