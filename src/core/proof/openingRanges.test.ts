import fc from 'fast-check'
import { expect, test } from 'vitest'
import { madeUpChallenge, madeUpEvidence, madeUpPart } from '../../../test/support/madeUpRun.ts'
import { openingRanges, sampleRanges } from './openingRanges.ts'
import type { OpeningRange, Run } from './verifyPart.ts'

const run: fc.Arbitrary<Run> = fc
  .record({
    devices: fc.integer({ min: 1, max: 4 }),
    openings: fc.array(fc.integer({ min: 1, max: 100 }), { minLength: 1, maxLength: 4 }),
    masks: fc.array(fc.integer({ min: 1, max: 15 }), { minLength: 4, maxLength: 4 }),
    ran: fc.nat(4),
  })
  .map(({ devices, openings, masks, ran }) => {
    const parts = openings.map((count, p) => {
      const mask = masks[p]! % 2 ** devices || 1
      return madeUpPart({ openings: count, mask, kept: Array<number>(devices).fill(0) })
    })
    return { challenge: madeUpChallenge(parts), parts: parts.slice(0, ran).map(() => madeUpEvidence([])) }
  })

const cells = (ranges: readonly OpeningRange[]): string[] =>
  ranges.flatMap(({ part, device, from, to }) =>
    Array.from({ length: to - from }, (_, i) => `${part} ${device} ${from + i}`),
  )

const wanted = ({ challenge, parts }: Run): string[] =>
  parts.flatMap((_, part) => {
    const { mask, openings } = challenge.parts[part]!
    return Array.from({ length: challenge.deviceCount }, (_, device) => device)
      .filter((device) => Math.floor(mask / 2 ** device) % 2 === 1)
      .flatMap((device) => Array.from({ length: openings }, (_, i) => `${part} ${device} ${i}`))
  })

test('property: the ranges cover every opening of the parts that ran, each once', () => {
  fc.assert(
    fc.property(run, (one) => {
      expect(cells(openingRanges(one)).sort()).toEqual(wanted(one).sort())
    }),
  )
})

test('property: a sample has so many different openings of the run, or all of them', () => {
  fc.assert(
    fc.property(
      run,
      fc.nat(300),
      fc.array(fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }), { minLength: 1 }),
      (one, count, chances) => {
        let i = 0
        const draw = (below: number) => Math.floor(chances[i++ % chances.length]! * below)
        const sampled = cells(sampleRanges(openingRanges(one), count, draw))
        expect(sampled.length).toBe(Math.min(count, wanted(one).length))
        expect(new Set(sampled).size).toBe(sampled.length)
        const all = new Set(wanted(one))
        expect(sampled.filter((cell) => !all.has(cell))).toEqual([])
      },
    ),
  )
})
