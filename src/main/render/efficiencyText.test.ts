import { expect, test } from 'vitest'
import { SHIPPED_CATALOGUE } from '../../../test/sim/shippedCatalogue.ts'
import type { DeviceJudgement } from '../../core/certificate/judgeRun.ts'
import { loadCatalogue } from '../../drivers/system/loadCatalogue.ts'
import { efficiencyText } from './deviceLines.ts'

const { models } = await loadCatalogue(SHIPPED_CATALOGUE)
const h200 = models.find(({ id }) => id === 'h200-sxm')!
const judged = (rates: Record<string, number>, perSecond?: number) =>
  ({ rates, memory: perSecond === undefined ? null : { perSecond } }) as DeviceJudgement

test('efficiency is the proven rate over what the vendor prints', () => {
  expect(efficiencyText(judged({ int8: 1266e12, bf16: 692.3e12 }, 4320e9), h200)).toBe(
    'of the datasheet of the NVIDIA H200 SXM: int8 64 %, bf16 70 %, bandwidth 90 %',
  )
})

test('without a model or a printed figure nothing is said', () => {
  expect(efficiencyText(judged({ int8: 1e12 }), undefined)).toBeNull()
  expect(efficiencyText(judged({}), h200)).toBeNull()
})
