import { expect, test } from 'vitest'
import { lentGain } from '../../../test/sim/lentMemory.ts'
import { shippedCatalogue } from '../../../test/sim/shippedCatalogue.ts'

/** Of what each card itself earns (score.md S1). */
const PLAIN = { 'rtx-4060': 1.136, other: 1.1 }
const SORTED = { p40: 1.33, 'rtx-2080': 1.25, 'rtx-2080-ti': 1.25, other: 1.2 }

test.each([
  ['as it comes', 1, PLAIN],
  ['in the order of §7.15', 2 / 1.08, SORTED],
])(
  'attack 518: one card as up to eight, with memory that is lent and read %s',
  async (_, readsAs, most: Readonly<Record<string, number>>) => {
    const catalogue = await shippedCatalogue()
    const above = [1, 2, 3, 4, 5, 6, 7, 8].flatMap((devices) =>
      catalogue.models.flatMap((model) => {
        const gain = lentGain(catalogue, { devices, readsAs }, model)
        return gain > (most[model.id] ?? most.other!) ? [`${model.id} as ${devices}: ${gain}`] : []
      }),
    )
    expect(above).toEqual([])
  },
)
