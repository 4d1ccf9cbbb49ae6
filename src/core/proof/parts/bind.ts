import type { PartKind, PartShape } from '../part.ts'
import { bindPartner } from '../partners.ts'
import { calibrationPart, fits, lasting, type PlanInputs } from '../planPart.ts'
import { classK, SHALLOW_K } from '../sizeClass.ts'
import { chain } from './chain.ts'

const part = (inputs: PlanInputs, size: (precision: 'int8') => number) =>
  calibrationPart(
    inputs,
    bind,
    'int8',
    inputs.precisions.includes('int8') ? size('int8') : fits(inputs, 'int8', SHALLOW_K),
  )

/** §8: rounds whose tiles are fingerprinted in pairs, which only one memory can do at speed. */
export const bind: PartKind<PartShape<'bind', 'int8'>> = {
  ...chain('bind', bindPartner),
  name: 'bind',
  precisions: ['int8'],
  // Bound rounds are about C alone.
  k: (preset, device, precision) => (preset.size > 0 ? classK(preset, device, precision) : SHALLOW_K),
  planTiming: (inputs, size) => (inputs.bind ? [part(inputs, size)] : []),
  plan: (inputs, size, timings) =>
    inputs.bind ? [lasting(inputs, part(inputs, size), inputs.partSeconds, timings)] : [],
}
