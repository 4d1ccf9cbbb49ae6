import { PRECISION_NAMES } from '../params/precision.ts'
import { PRESETS } from '../params/presets.ts'
import type { PartShape } from './part.ts'
import { partRole } from './partKinds.ts'
import { planRun } from './planRun.ts'

/** What a part of all devices is for. */
function purposeOf(parts: readonly PartShape[], p: number): string {
  const role = partRole(parts, p)
  return role === 'peak' ? parts[p]!.precision : role
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
const TOGETHER = FULLEST.map((_, p) => purposeOf(FULLEST, p)).filter((purpose) => purpose !== 'alone')

/**
 * §8: the place of a part among all that any box may be asked. Boxes that offer different precisions have different
 * numbers of parts, so the number of a part says nothing about what another box does in its own (attack 127).
 */
export function slotOf(parts: readonly PartShape[], p: number): number {
  const purpose = purposeOf(parts, p)
  return purpose === 'alone' ? TOGETHER.length + Math.log2(parts[p]!.mask) : TOGETHER.indexOf(purpose)
}

/** How long after its start a part keeps nobody waiting, openings included; its rounds are planned for half of that or less. */
export function slotLimitMs(slot: number): number {
  if (slot < PRECISION_NAMES.length) return 15_000
  return slot < TOGETHER.length ? 40_000 : 5_000
}
