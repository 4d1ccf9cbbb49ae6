import type { PartKind, PartShape } from '../part.ts'
import { bindPartner } from '../partners.ts'
import { calibrationPart, fits, lasting } from '../planPart.ts'
import { classK, SHALLOW_K } from '../sizeClass.ts'
import { series } from './series.ts'

/** They take 5 ms on an H200: of four a late one would be half of the part, and the run begun anew (attack 503). */
const TIMED = 32

/** §8: rounds whose tiles are fingerprinted in pairs, which only one memory can do at speed. */
export const bind: PartKind<PartShape<'bind', 'int8'>> = {
  ...series('bind', bindPartner),
  name: 'bind',
  precisions: ['int8'],
  // Bound rounds are about C alone.
  k: (preset, device, precision) => (preset.size > 0 ? classK(preset, device, precision) : SHALLOW_K),
  plan: (inputs, size, timings) => {
    if (!inputs.bind) return []
    const m = inputs.precisions.includes('int8') ? size('int8') : fits(inputs, 'int8', SHALLOW_K)
    const part = calibrationPart(inputs, bind, 'int8', m)
    const isCard = inputs.preset.secure && inputs.devices[0]!.class === 'gpu'
    return [lasting(inputs, isCard ? { ...part, rounds: TIMED } : part, inputs.partSeconds, timings)]
  },
}
