import { expect, test } from 'vitest'
import { SHIPPED_CATALOGUE } from '../../../test/sim/shippedCatalogue.ts'
import { inferred } from '../../core/params/provenance.ts'
import { loadCatalogue } from '../../drivers/system/loadCatalogue.ts'
import { shownModel } from './deviceLines.ts'

const catalogue = await loadCatalogue(SHIPPED_CATALOGUE)
const device = {
  identity: inferred({
    status: 'identified' as const,
    model: 'H200 SXM, H200 NVL or GH200 144GB',
    cards: ['gh200-144gb', 'h200-sxm', 'h200-nvl'],
    confidencePercent: 99,
    closest: [],
  }),
}
const shown = (claim: string | null) => shownModel(device, claim, catalogue)?.id

test('of models that measure alike the claimed one is shown', () => {
  expect(shown('H200 SXM')).toBe('h200-sxm')
  expect(shown('8x H200 NVL')).toBe('h200-nvl')
})

test('otherwise the first of them in the catalogue is', () => {
  expect(shown(null)).toBe('h200-sxm')
  expect(shown('RTX 4090')).toBe('h200-sxm')
  expect(shown('no card')).toBe('h200-sxm')
})
