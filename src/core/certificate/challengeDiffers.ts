import type { Preset } from '../params/presets.ts'
import type { Challenge } from '../proof/challenge.ts'
import { kindOf } from '../proof/partKinds.ts'
import type { DeviceClass } from '../proof/sizeClass.ts'

/** Null when the challenge is one of the preset; otherwise the field that is not. */
export function challengeDiffers(
  preset: Preset,
  challenge: Challenge,
  deviceClasses: readonly DeviceClass[],
): string | null {
  for (const [p, part] of challenge.parts.entries()) {
    const k = kindOf(part).k(preset, deviceClasses[0] ?? 'gpu', part.precision)
    if (preset.size === 0 ? part.k !== k : part.k > k) return `part ${p} k`
    if (part.openings < preset.openings) return `part ${p} openings`
    if (preset.size > 0 && part.m > preset.size) return `part ${p} m`
  }
  // §4.0: one k for every device of a run, so classes cannot be mixed in one.
  return new Set(deviceClasses).size > 1 ? 'classes of devices' : null
}
