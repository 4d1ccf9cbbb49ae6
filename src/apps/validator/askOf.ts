import { PRECISION_NAMES } from '../../core/params/precision.ts'
import { PRESETS } from '../../core/params/presets.ts'
import { fault } from '../shared/faults.ts'
import type { VerifyOptions } from './verifyBox.ts'

type Changeable = Pick<
  VerifyOptions,
  'precisions' | 'openings' | 'partSeconds' | 'maxDevices' | 'claim' | 'memory' | 'bind' | 'link'
>

/** What anybody may change of a preset; what is left out is as the preset has it. */
export interface Ask extends Pick<VerifyOptions, 'preset'>, Partial<Changeable> {
  /** Of the sustained run, seconds. */
  readonly duration?: number
  /** A bound on m = n that is not the preset's own. */
  readonly size?: number
  /** Seconds for which the certificate counts. */
  readonly validFor?: number
}

/**
 * The one way from options to what a box is asked. Attack 68: whatever weakens mainnet, or leaves a part of it out, makes
 * it `custom`, which is insecure, identifies nothing and proves no claim. A certificate names its preset and is judged by
 * it wherever it is checked, so less than any other preset asks for cannot be had.
 */
export function askOf(ask: Ask, program: string): VerifyOptions {
  if (ask.preset.fixedRounds > 0) refuseTimes(ask)
  const { preset, precisions = PRECISION_NAMES, memory = true, bind = true, maxDevices = 32, claim = null } = ask
  const { openings = preset.openings, partSeconds = preset.partSeconds } = ask
  const { duration: sustainedSeconds = preset.sustainedSeconds, validFor, size } = ask
  if (preset.size > 0 && size !== undefined && size >= preset.size)
    throw fault('SIZE_OF_PRESET', { size, preset: preset.name, most: preset.size })
  const weaker = [
    { option: '--openings', asked: openings, least: preset.openings },
    { option: '--part-seconds', asked: partSeconds, least: preset.partSeconds },
    { option: '--duration', asked: sustainedSeconds, least: preset.sustainedSeconds },
  ].find(({ asked, least }) => asked < least)
  if (weaker && preset.name !== 'mainnet') throw fault('BELOW_PRESET', { ...weaker, preset: preset.name })
  const isWhole = PRECISION_NAMES.every((name) => precisions.includes(name)) && memory && bind
  const isCustom = preset.name === 'mainnet' && (weaker !== undefined || !isWhole || size !== undefined)
  return {
    preset: isCustom ? PRESETS.custom : preset,
    precisions,
    openings,
    partSeconds,
    sustainedSeconds,
    maxSize: size ?? 32768,
    memory,
    bind,
    ...(ask.link === undefined ? {} : { link: ask.link }),
    maxDevices,
    claim,
    program,
    ...(validFor === undefined ? {} : { validSeconds: validFor }),
  }
}

/** Where a preset has a fixed number of rounds they would do nothing, or make a part that lasts as long as it likes. */
function refuseTimes({ preset, partSeconds, duration }: Ask): void {
  const option = partSeconds !== undefined ? '--part-seconds' : duration !== undefined ? '--duration' : null
  if (option) throw fault('UNTIMED_PRESET', { option, preset: preset.name })
}
