import { expect, test } from 'vitest'
import { shippedCatalogue } from '../../../test/sim/shippedCatalogue.ts'
import { inferred, proven } from '../../core/params/provenance.ts'
import { identityText, sustainedText } from './deviceLines.ts'
import { labelled } from './labelled.ts'

const common = {
  status: 'identified' as const,
  closest: [{ model: 'h200-sxm', confidencePercent: 60 }],
}
const catalogue = await shippedCatalogue()
const identified = (confidencePercent: number, model: string, cards: string[]) =>
  identityText({ identity: inferred({ ...common, model, confidencePercent, cards }) }, catalogue)

test('of models that measure alike it is said that one of them is meant, and that nobody knows which', () => {
  expect(identified(98, 'H200 SXM or H200 NVL', ['h200-sxm', 'h200-nvl'])).toBe(
    'H200 SXM or H200 NVL, 98 % sure; they measure alike, so it may be any of them (closest: h200-sxm 60 %)',
  )
})

test('the confidence stands beside all of them, also where one of them was sold', () => {
  expect(identified(100, 'L40S', ['rtx-6000-ada', 'l40s'])).toMatch(
    /^L40S or RTX 6000 Ada Generation, over 99 % sure; they measure alike/,
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
