import { expect, test } from 'vitest'
import { inferred, proven } from '../../core/params/provenance.ts'
import { identityText, sustainedText } from './deviceLines.ts'
import { labelled } from './labelled.ts'

const common = {
  status: 'identified' as const,
  closest: [{ model: 'h200-sxm', confidencePercent: 60 }],
}
const identified = (confidencePercent: number, model: string, cards: string[]) =>
  identityText({ identity: inferred({ ...common, model, confidencePercent, cards }) })

test('of models that measure alike it is said that one of them is meant, and that nobody knows which', () => {
  expect(identified(98, 'H200 SXM or H200 NVL', ['h200-sxm', 'h200-nvl'])).toBe(
    'H200 SXM or H200 NVL, 98 % sure; they measure alike, so it may be any of them (closest: h200-sxm 60 %)',
  )
})

test('a confidence that only rounds to a hundred is not called certain', () => {
  expect(identified(100, 'H200 SXM', ['h200-sxm'])).toBe('H200 SXM, over 99 % sure (closest: h200-sxm 60 %)')
  expect(identified(99, 'H200 SXM', ['h200-sxm'])).toContain(', 99 % sure')
})

test('the line of a sustained part reads in 80 columns', () => {
  const figures = proven({ perSecond: 3.08e10, dips: 38, lastShare: 651, peakShare: 723 })
  const rows = labelled('sustained', sustainedText({ ...figures, precision: 'bf16' }))
  expect(rows).toEqual([
    '  sustained      30.8 GFLOPS bf16, 38 dips, last third at 65.1 % of the first,',
    '                 72.3 % of the short part',
  ])
})
