import { cardsOf } from '../../core/certificate/judgementSchema.ts'
import type { DeviceJudgement } from '../../core/certificate/judgeRun.ts'
import type { Catalogue } from '../../core/identify/catalogue.ts'
import { rateCeiling } from '../../core/identify/expected.ts'
import { MAX_K } from '../../core/params/constants.ts'
import { formatBytesPerSecond } from '../../core/units/format.ts'

type Linked = Pick<DeviceJudgement, 'rates' | 'identity'>

/** §8.10: how fast these cards read from others. One that computes its neighbour's fill again needs no link to it (attack 149). */
export function linkText(perSecond: number, devices: readonly Linked[], catalogue: Catalogue): string {
  const shown = formatBytesPerSecond(perSecond)
  const computed = (2 * Math.max(...devices.map((device) => peakOf(device, catalogue)))) / MAX_K
  if (perSecond > computed) return `${shown} or more`
  return `not shown: ${formatBytesPerSecond(computed)} could have been computed without a link, and it was ${shown}`
}

/** The int8 rate it showed, or that its card has. Of a CPU, and in small presets, nothing is inferred, and the link is only told. */
function peakOf({ rates, identity }: Linked, { models, rules }: Catalogue): number {
  if (identity.status === 'cpu' || identity.status === 'insecure') return 0
  const cards = models.filter(({ id }) => cardsOf(identity).includes(id))
  return Math.max(rates.int8 ?? 0, ...cards.map((model) => rateCeiling(model, 'int8', rules) ?? 0))
}
