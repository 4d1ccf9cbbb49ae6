import { PRECISION_NAMES, type Precision } from '../params/precision.ts'
import { PRESETS, type Preset } from '../params/presets.ts'
import type { Challenge } from '../proof/challenge.ts'
import { comparedWith, isReadInTurns, isReadTogether, kindOf, type Part, type PlannedPart } from '../proof/partKinds.ts'
import { type PlanInputs, partKey } from '../proof/planPart.ts'
import { chooseSize, planRun, planSizing } from '../proof/planRun.ts'
import type { DeviceClass, SizedDevice } from '../proof/sizeClass.ts'

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

/** A device as a plan sees it. */
export type OfferedDevice = SizedDevice & { readonly precisions: readonly Precision[] }

/**
 * C8: `mainnet` says that nothing was left out. Null when the challenge is a whole run on these devices, otherwise what is
 * not. The plan itself is made again from what the devices offered, so that the two cannot drift apart.
 */
export function wholeRunDiffers({ parts }: Challenge, devices: readonly OfferedDevice[]): string | null {
  const inputs = wholeRun(devices)
  if (inputs.precisions.length === 0) return 'no part in any precision'
  const sizing = planSizing(inputs)
  const keyOf = (precision: Precision) => partKey(sizing.find((part) => part.precision === precision)!)
  const ran = (precision: Precision) => parts.find((part) => partKey(part) === keyOf(precision))
  const missing = inputs.precisions.find((precision) => !ran(precision))
  if (missing) return `no part in ${missing}`
  const badSize = inputs.precisions.find((precision) => !isClass(inputs, sizing, precision, ran(precision)!.m))
  if (badSize) return `m of ${badSize}`
  const isThere = (planned: PlannedPart) => parts.some(({ kind }) => kind === planned.kind)
  const plan = planRun(inputs, (precision) => ran(precision)!.m, new Map()).filter(
    (planned) => !kindOf(planned).isOptional || isThere(planned),
  )
  const wrong = plan.findIndex((planned, p) => !parts[p] || !isPlanned(parts[p], planned))
  if (wrong >= 0) return `part ${wrong}, ${partKey(plan[wrong]!)} of devices ${plan[wrong]!.mask.toString(2)}`
  if (parts.length > plan.length) return `part ${plan.length}, which mainnet has not`
  return shortenedPart(parts)
}

function wholeRun(devices: readonly OfferedDevice[]): PlanInputs {
  const preset = PRESETS.mainnet
  const { openings, partSeconds, sustainedSeconds } = preset
  const precisions = PRECISION_NAMES.filter((name) => devices.every((device) => device.precisions.includes(name)))
  const whole = { preset, devices, precisions, memory: true, bind: true, openings, partSeconds, sustainedSeconds }
  return { ...whole, maxSize: 32768, roundTripSeconds: 0 }
}

/** From the least there is to the largest that fits; between them the speed decides (UNDERSIZED_RUN). */
function isClass(inputs: PlanInputs, sizing: readonly PlannedPart[], precision: Precision, size: number): boolean {
  const smallest = sizing.find((part) => part.precision === precision)!
  const sizeAt = (seconds: number) =>
    chooseSize(inputs, precision, sizing, new Map([[partKey(smallest), { fastest: seconds, slowest: seconds }]]))
  return size >= sizeAt(Number.POSITIVE_INFINITY) && size <= sizeAt(0)
}

/** A CPU fills as much as it can in a few seconds, so its kept rounds may be fewer. */
function isPlanned(part: Part, planned: PlannedPart): boolean {
  const same = (['precision', 'm', 'n', 'k', 'mask'] as const).every((field) => part[field] === planned[field])
  // A file from before is no forgery, and today's rules judge it.
  const isKind = part.kind === planned.kind || (isReadInTurns(part) && isReadTogether(planned))
  const fills = part.kept.every(
    (kept, device) => kept === planned.kept[device] || isShallow(part, kept, planned.kept[device]!),
  )
  return same && isKind && fills
}

const isShallow = ({ k }: Part, kept: number, planned: number): boolean => k === 2048 && kept >= 2 && kept <= planned

/** The first part that is too short for what it is compared with. */
function shortenedPart(parts: readonly Part[]): string | null {
  const wrong = parts.findIndex(({ rounds }, p) => {
    const { part, share } = comparedWith(parts, p)
    return share * rounds < parts[part]!.rounds
  })
  return wrong < 0 ? null : `part ${wrong} rounds`
}
