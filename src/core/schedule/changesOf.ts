import * as z from 'zod'
import type { Inventory } from '../inventory/inventory.ts'

/** Something worth a line in a box's history: a changed claim, a card that another box claims too, or one that failed. */
export const historyNote = z.object({
  what: z.enum(['count', 'card', 'driver', 'shared card', 'shared chip', 'lost device']),
  before: z.string(),
  after: z.string(),
})
export type HistoryNote = Readonly<z.infer<typeof historyNote>>

type Device = Inventory['devices'][number]

/** Which card stands in a slot, as far as it says: claims, used to ask again and never to accept. */
const cardOf = (device: Device): string => [device.name, ...idOf(device)].join(' ')

const idOf = ({ details: { uuid } }: Device): string[] => (typeof uuid === 'string' && uuid !== '' ? [uuid] : [])

/** Ids of the cards that have one. */
export const cardIds = ({ devices }: Inventory): string[] => devices.flatMap(idOf)

const driverOf = ({ devices, host }: Inventory): string => {
  const told = devices.map(({ details }) => details.driver).find((driver) => driver !== undefined)
  return String(told ?? host.driver ?? '')
}

/** What differs between two inventories that must trigger a fresh run; null before is a first sight, not a change. */
export function changesOf(before: Inventory | null, after: Inventory): HistoryNote[] {
  if (before === null) return []
  const marks: HistoryNote[] = []
  const add = (what: HistoryNote['what'], was: string, is: string) => {
    if (was !== is) marks.push({ what, before: was.slice(0, 240), after: is.slice(0, 240) })
  }
  add('count', String(before.devices.length), String(after.devices.length))
  add('card', cards(before), cards(after))
  add('driver', driverOf(before), driverOf(after))
  return marks
}

/** Slots may be numbered anew after a reboot: the set counts, not the order. */
const cards = ({ devices }: Inventory): string => devices.map(cardOf).sort().join(', ')
