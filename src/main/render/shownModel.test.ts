import { expect, test } from 'vitest'
import { SHIPPED_CATALOGUE } from '../../../test/sim/shippedCatalogue.ts'
import type { DeviceJudgement } from '../../core/certificate/judgeRun.ts'
import { loadCatalogue } from '../../drivers/system/loadCatalogue.ts'
import { shownModel } from './shownModel.ts'

const catalogue = await loadCatalogue(SHIPPED_CATALOGUE)
const device = { identity: { model: 'gh200-144gb', twins: ['h200-sxm', 'h200-nvl'] } } as unknown as DeviceJudgement
const shown = (claim: string | null) => shownModel(device, claim, catalogue)?.id

test('of models that measure alike the claimed one is shown', () => {
  expect(shown('H200 SXM')).toBe('h200-sxm')
  expect(shown('8x H200 NVL')).toBe('h200-nvl')
})

test('otherwise the inferred one is', () => {
  expect(shown(null)).toBe('gh200-144gb')
  expect(shown('RTX 4090')).toBe('gh200-144gb')
  expect(shown('no card')).toBe('gh200-144gb')
})
