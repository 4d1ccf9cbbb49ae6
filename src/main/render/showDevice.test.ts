import { expect, test } from 'vitest'
import { SHIPPED_CATALOGUE } from '../../../test/sim/shippedCatalogue.ts'
import { inferred } from '../../core/params/provenance.ts'
import { loadCatalogue } from '../../drivers/system/loadCatalogue.ts'
import { identityText } from './showDevice.ts'

const catalogue = await loadCatalogue(SHIPPED_CATALOGUE)
const common = {
  status: 'identified' as const,
  model: 'h200-sxm',
  closest: [{ model: 'h200-sxm', confidencePercent: 60 }],
}
const identified = (confidencePercent: number, twins: string[]) =>
  identityText({ identity: inferred({ ...common, confidencePercent, twins }) }, catalogue)

test('of models that measure alike it is said that one of them is meant, and that nobody knows which', () => {
  expect(identified(98, ['h200-nvl'])).toBe(
    'H200 SXM or H200 NVL, 98 % sure; they measure alike, so it may be any of them (closest: h200-sxm 60 %)',
  )
})

test('a confidence that only rounds to a hundred is not called certain', () => {
  expect(identified(100, [])).toBe('H200 SXM, over 99 % sure (closest: h200-sxm 60 %)')
  expect(identified(99, [])).toContain(', 99 % sure')
})
