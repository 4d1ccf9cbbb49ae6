import { expect, test } from 'vitest'
import { lentGain } from '../../../test/sim/lentMemory.ts'
import { shippedCatalogue } from '../../../test/sim/shippedCatalogue.ts'

/** Of what each card itself earns; any other card at most this (score.md S1). */
const MOST_OF: Readonly<Record<string, number>> = { 'rtx-4060': 1.136 }
const MOST_OF_ANY_OTHER = 1.1

test('attack 506: memory that a host lends, or that is computed again, earns a tenth at most, but for one card', async () => {
  const catalogue = await shippedCatalogue()
  const gainOf = lentGain.bind(null, catalogue, { devices: 1, readsAs: 1 })
  const above = catalogue.models.filter((model) => gainOf(model) > (MOST_OF[model.id] ?? MOST_OF_ANY_OTHER))
  expect(above.map(({ id }) => id)).toEqual([])
})
