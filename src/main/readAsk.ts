import type { VerifyOptions } from '../apps/validator/verifyBox.ts'
import { PRECISION_NAMES, type Precision } from '../core/params/precision.ts'
import { type Preset, presetAsked } from '../core/params/presets.ts'
import { fault } from './faults.ts'
import { programName } from './version.ts'

/** What `verify` takes that decides what the box is asked. */
export interface AskFlags {
  readonly preset: Preset
  readonly precisions?: Precision[]
  readonly openings?: number
  readonly partSeconds?: number
  readonly duration?: number
  readonly size?: number
  readonly maxDevices: number
  readonly claim?: string
  readonly memory: boolean
  readonly bind: boolean
  readonly validFor?: number
}

/**
 * Options that weaken mainnet, or leave a part out, make it `custom`, which is insecure and identifies nothing. A certificate names its preset
 * and is judged by it wherever it is checked, so less than any other preset asks for cannot be had.
 */
export function readAsk(flags: AskFlags): VerifyOptions {
  const { preset } = flags
  const openings = flags.openings ?? preset.openings
  const partSeconds = flags.partSeconds ?? preset.partSeconds
  const sustainedSeconds = flags.duration ?? preset.sustainedSeconds
  const weaker = [
    { option: '--openings', asked: openings, least: preset.openings },
    { option: '--part-seconds', asked: partSeconds, least: preset.partSeconds },
    { option: '--duration', asked: sustainedSeconds, least: preset.sustainedSeconds },
  ].find(({ asked, least }) => asked < least)
  if (weaker && preset.name !== 'mainnet') throw tooWeak(preset, weaker)
  const { memory, bind, size, precisions = PRECISION_NAMES } = flags
  const asked = { precisions, memory, bind, openings, partSeconds, sustainedSeconds }
  return {
    ...asked,
    preset: presetAsked(preset, { ...asked, size }),
    maxSize: size ?? 32768,
    maxDevices: flags.maxDevices,
    claim: flags.claim ?? null,
    program: programName,
    ...(flags.validFor === undefined ? {} : { validSeconds: flags.validFor }),
  }
}

const tooWeak = (
  { name }: Preset,
  { option, asked, least }: { readonly option: string; readonly asked: number; readonly least: number },
) => fault('BELOW_PRESET', { option, preset: name, asked, least })
