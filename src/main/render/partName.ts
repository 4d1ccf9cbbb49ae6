import type { PartRole } from '../../core/proof/part.ts'
import { kindOf, type PlannedPart, partRole } from '../../core/proof/partKinds.ts'

const NAMES: Partial<Record<PartRole, (part: PlannedPart) => string>> = {
  peak: ({ precision }) => `${precision} speed`,
  sustained: ({ precision }) => `${precision} speed, kept up`,
  alone: () => 'each card alone',
  memory: () => 'memory',
  bind: () => 'pair test',
  link: () => 'card to card',
}

/** A part as people know it; a kind that was added later has a name of its own. */
export function partName(parts: readonly PlannedPart[], p: number): string {
  const part = parts[p]!
  const named = NAMES[partRole(parts, p)]?.(part)
  return named ?? kindOf(part).label?.(part) ?? kindOf(part).name
}
