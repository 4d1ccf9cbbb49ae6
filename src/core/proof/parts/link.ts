import { isWhole, type PartKind, type PartShape } from '../part.ts'
import type { PlanInputs } from '../planPart.ts'
import { overFill, passes } from './fill.ts'

/** The partners lie in the memory of the device before. */
const deviceBefore = ({ kept }: PartShape, device: number): number => (device + kept.length - 1) % kept.length

const lastFillBefore = (parts: readonly PartShape[], p: number): number =>
  parts.findLastIndex(({ kept }, index) => index < p && kept.some((rounds) => rounds > 0))

const sameProduct = (a: PartShape, b: PartShape): boolean =>
  a.mask === b.mask && a.m === b.m && a.n === b.n && a.k === b.k

const overLink = { peerOf: deviceBefore, joint: false }

/** The slowest way between two cards that is waited for, and for how long at most: one lane of an old bus (attack 499). */
const SLOWEST_LINK_BYTES_PER_SEC = 0.5e9
const LONGEST_LINK_SECONDS = 600

/** §8: passes over a fill that read each device's partners from another, so that what joins them is timed. */
export const link: PartKind<PartShape<'link', 'int8'>> = {
  // Only the tile that crosses the link counts.
  ...overFill({ ...overLink, fill: lastFillBefore, tilesCounted: 1 }),
  name: 'link',
  phases: [passes(overLink)],
  refuse: (parts, p) => {
    const part = parts[p]!
    const fill = parts[lastFillBefore(parts, p)]
    return isWhole(part) && part.kept.length > 1 && fill && sameProduct(fill, part)
      ? null
      : 'needs a memory part of all of several devices before it'
  },
  leastUs: () => 0,
  isOptional: true,
  // Planned with the fill it reads.
  plan: () => [],
}

/**
 * Whether a link part is asked. Cards that cannot read one another's memory, as most for games and many in virtual machines,
 * say so (attack 494); who says so gains nothing, since the rate is paid to nobody and shows no link.
 */
export const isLinked = ({ devices, link = true }: PlanInputs): boolean =>
  link && devices.length > 1 && devices.every(({ details }) => details?.peers !== false)

/** The link part over a fill: few passes, since what joins cards may be slow, and its figure is no more than shown. */
export function linkOver(fill: PartShape<string, 'int8'>, { preset }: PlanInputs): PartShape<'link', 'int8'> {
  const rounds = preset.leastRounds
  const bytes = 2 * Math.max(...fill.kept) * fill.m * fill.n * rounds
  const seconds = Math.min(LONGEST_LINK_SECONDS, bytes / SLOWEST_LINK_BYTES_PER_SEC)
  const limitMs = Math.max(fill.limitMs, Math.ceil(60_000 + 1000 * seconds))
  return { ...fill, kind: link.name, kept: fill.kept.map(() => 0), rounds, limitMs }
}
