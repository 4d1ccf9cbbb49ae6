import { cardsOf } from '../../core/certificate/judgementSchema.ts'
import type { DeviceJudgement } from '../../core/certificate/judgeRun.ts'
import type { Catalogue, GpuModel } from '../../core/identify/catalogue.ts'
import { rateCeiling } from '../../core/identify/expected.ts'
import { HELD_SHARE } from '../../core/identify/unshown.ts'
import { MAX_K } from '../../core/params/constants.ts'
import { formatBytesPerSecond } from '../../core/units/format.ts'

type Linked = Pick<DeviceJudgement, 'rates' | 'memory' | 'identity'>

/** §8.10: how fast these cards read from others, unless they could have done it alone. */
export function linkText(perSecond: number, devices: readonly Linked[], catalogue: Catalogue): string {
  const shown = formatBytesPerSecond(perSecond)
  const judged = devices.filter(({ identity: { status } }) => status !== 'cpu' && status !== 'insecure')
  const cards = judged.map(({ identity }) => catalogue.models.filter(({ id }) => cardsOf(identity).includes(id)))
  // Who computes its neighbour's fill again needs no link to it (attack 149).
  const peaks = judged.flatMap(({ rates }, i) => [
    rates.int8 ?? 0,
    ...cards[i]!.map((card) => ceiling(card, catalogue)),
  ])
  const computed = (2 * Math.max(0, ...peaks)) / MAX_K
  if (perSecond <= computed)
    return `not shown: ${formatBytesPerSecond(computed)} could have been computed without a link, and it was ${shown}`
  // Nor does who has room for a copy of it (attack 152).
  if (judged.some(({ memory }, i) => hasRoom(memory?.heldBytes ?? 0, cards[i]!)))
    return `not shown: a card may have had room for a copy of its neighbour's fill, and it was ${shown}`
  // A host that has both fills reads them itself, and no byte goes from card to card (attack 405).
  return `${shown}, over a link or out of the memory of the host`
}

const ceiling = (card: GpuModel, { rules }: Catalogue): number => rateCeiling(card, 'int8', rules) ?? 0

/** Of an unknown card nobody knows how much it has. */
const hasRoom = (heldBytes: number, cards: readonly GpuModel[]): boolean =>
  cards.length === 0 || cards.some(({ memoryBytes }) => heldBytes < HELD_SHARE * memoryBytes)
