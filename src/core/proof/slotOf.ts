import { PRECISION_NAMES } from '../params/precision.ts'
import { PRESETS } from '../params/presets.ts'
import type { PartShape } from './part.ts'
import { kindOf, partRole } from './partKinds.ts'
import { planRun } from './planRun.ts'

/** What each phase of a part is for: memory is filled at one moment, and read at another (attack 154). */
function purposesOf(parts: readonly PartShape[], p: number): readonly string[] {
  const role = partRole(parts, p)
  const purpose = role === 'peak' ? parts[p]!.precision : role
  return kindOf(parts[p]!).phases.map(({ name }, i) => (i === 0 ? purpose : `${purpose} ${name}`))
}

/** Two devices that are asked everything. */
const FULLEST = planRun(
  {
    preset: PRESETS.tiny,
    devices: Array.from({ length: 2 }, () => ({ class: 'gpu', memoryBytes: 2 ** 30, freeBytes: 2 ** 30 })),
    precisions: PRECISION_NAMES,
    memory: true,
    bind: true,
    openings: 1,
    partSeconds: 1,
    sustainedSeconds: 1,
    maxSize: 64,
    roundTripSeconds: 0,
  },
  () => 64,
  new Map(),
)

/** What all devices are asked together, in the order of a run; the parts of each device alone follow. */
const TOGETHER = FULLEST.flatMap((_, p) => purposesOf(FULLEST, p)).filter((purpose) => purpose !== 'alone')

/**
 * §8: the places of a part's phases among all that any box may be asked. Boxes that offer different precisions have different
 * numbers of parts, so the number of a part says nothing about what another box does in its own (attack 127).
 */
export function slotsOf(parts: readonly PartShape[], p: number): readonly number[] {
  return purposesOf(parts, p).map((purpose) =>
    purpose === 'alone' ? TOGETHER.length + Math.log2(parts[p]!.mask) : TOGETHER.indexOf(purpose),
  )
}

/**
 * How long after its start a phase keeps nobody waiting, openings included. Its roots are planned for half of that or less,
 * but for a fill, which takes as long as the card has memory for its speed: 80 s a slow B300 (attack 495).
 */
export function slotLimitMs(slot: number): number {
  if (slot < PRECISION_NAMES.length) return 15_000
  if (TOGETHER[slot] === 'memory') return 100_000
  if (TOGETHER[slot] === 'memory passes') return 20_000
  return slot < TOGETHER.length ? 40_000 : 5_000
}
