import { MAX_SIZE, TILE } from '../../core/params/constants.ts'
import type { LeafPosition, OnRoot } from '../../ports/device.ts'
import type { TouchstoneError } from '../../ports/errors.ts'
import { portFault } from '../../ports/faults.ts'

export const tilesOf = ({ m, n }: { readonly m: number; readonly n: number }): number => (m / TILE) * (n / TILE)

/** §7. Roots of the kept rounds, padded to a power of two. */
export const paddedRounds = (rounds: number): number => 2 ** Math.ceil(Math.log2(rounds))

/** §4.0. Powers of two: trees have a fixed depth, and work divides evenly. */
export function refuseShape(
  { m, n, k }: { readonly m: number; readonly n: number; readonly k: number },
  least: number,
): void {
  for (const [what, size] of Object.entries({ m, n, k }))
    if (!Number.isInteger(Math.log2(size)) || size < least || size > MAX_SIZE)
      throw sizeRefused(what, size, `a power of two from ${least} to ${MAX_SIZE}`)
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

export const sizeRefused = (what: string, got: number, expected: string): TouchstoneError =>
  portFault('SIZE_REFUSED', { what, got, expected })

/** Hands roots on and keeps them: the openings need them again. */
export function keepRoots(onRoot: OnRoot) {
  const roots: Uint8Array[] = []
  const keep: OnRoot = (root) => {
    roots.push(root)
    onRoot(root)
  }
  return { roots, keep }
}
