import { formatBytesPerSecond } from '../../core/units/format.ts'

/**
 * §8.10: how fast cards read what others hold. It shows no link: they may compute it again, a card or a host may have a copy,
 * and one card may be all of them (attacks 149, 152, 405, 407).
 */
export const linkText = (perSecond: number): string =>
  `${formatBytesPerSecond(perSecond)}, over a link or without one: out of a copy, or computed again`
