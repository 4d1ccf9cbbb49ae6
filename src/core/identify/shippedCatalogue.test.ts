import { beforeAll, describe, expect, test } from 'vitest'
import { modelOf, shippedCatalogue } from '../../../test/sim/shippedCatalogue.ts'
import { PRECISION_NAMES } from '../params/precision.ts'
import type { Catalogue, GpuModel, PublishedFigure } from './catalogue.ts'
import { copyBandwidth, expectedBandwidth, expectedRate } from './expected.ts'

let catalogue: Catalogue
beforeAll(async () => {
  catalogue = await shippedCatalogue()
})

const figuresOf = (model: GpuModel): readonly PublishedFigure[] => [
  ...model.bandwidth,
  ...Object.values(model.rates).flat(),
]
const sheet = (figures: readonly PublishedFigure[] | undefined): number | undefined =>
  figures?.find((figure) => figure.basis === 'datasheet')?.value

describe('the shipped catalogue', () => {
  test('names the families that are rented', () => {
    expect(catalogue.models.length).toBeGreaterThanOrEqual(70)
    const ids = catalogue.models.map((model) => model.id).join(' ')
    for (const family of ['k80', 'p100', 'v100', 't4', 'rtx-2080', 'rtx-3090', 'rtx-4090', 'rtx-5090', 'a10', 'a100'])
      expect(ids).toContain(family)
    for (const family of ['rtx-a6000', 'l4', 'l40s', 'rtx-6000-ada', 'h100', 'h20', 'h200', 'gh200', 'b200', 'rtx-pro'])
      expect(ids).toContain(family)
  })

  test('has a published measurement for every model, with the address of its page', () => {
    const without = catalogue.models.filter((model) => !figuresOf(model).some(({ basis }) => basis === 'measured'))
    expect(without.map((model) => model.id)).toEqual([])
    for (const figure of catalogue.models.flatMap(figuresOf))
      if (figure.basis === 'measured') expect(catalogue.sources[figure.source]?.address, figure.source).toBeDefined()
  })

  test('every source listed is used', () => {
    const sourced = ({ reported, ...model }: GpuModel) => [...figuresOf(model), ...(reported ? [reported] : [])]
    const used = new Set(catalogue.models.flatMap((model) => sourced(model).map(({ source }) => source)))
    expect(Object.keys(catalogue.sources).filter((key) => !used.has(key))).toEqual([])
  })

  test('no measurement is far from its datasheet: a slip of a digit would be', () => {
    const strange: string[] = []
    for (const model of catalogue.models)
      for (const [name, figures] of [['bandwidth', model.bandwidth], ...Object.entries(model.rates)] as const) {
        const peak = sheet(figures)
        for (const { basis, value } of figures)
          if (basis === 'measured' && peak !== undefined && (value > 1.2 * peak || value < 0.33 * peak))
            strange.push(`${model.id} ${name} ${value / peak}`)
      }
    expect(strange).toEqual([])
  })

  test('every model has an fp32 rate and a bandwidth, so that each can be told from its neighbours', () => {
    for (const model of catalogue.models) {
      expect(expectedRate(model, 'fp32', catalogue.rules), model.id).not.toBeNull()
      expect(expectedBandwidth(model, catalogue.rules), model.id).not.toBeNull()
    }
  })

  test('twins share a chip, differ little in every printed figure, and stay in groups of three at most', () => {
    for (const model of catalogue.models) {
      expect(model.twins.length, model.id).toBeLessThanOrEqual(2)
      for (const twin of model.twins.map((id) => modelOf(catalogue, id))) {
        expect(Math.abs(Math.log(twin.memoryBytes / model.memoryBytes)), model.id).toBeLessThan(0.05)
        for (const name of PRECISION_NAMES) {
          const [a, b] = [sheet(model.rates[name]), sheet(twin.rates[name])]
          if (a !== undefined && b !== undefined)
            expect(Math.abs(Math.log(a / b)), `${model.id} ${name}`).toBeLessThan(0.2)
        }
        const [a, b] = [sheet(model.bandwidth)!, sheet(twin.bandwidth)!]
        expect(Math.abs(Math.log(a / b)), model.id).toBeLessThan(0.25)
      }
    }
  })

  test('cards that are priced apart are not twins', () => {
    const pairs = [
      ['h100-sxm', 'h100-pcie'],
      ['h100-sxm', 'h200-sxm'],
      ['a100-sxm4-80gb', 'a100-sxm4-40gb'],
      ['rtx-5080', 'rtx-5070-ti'],
      ['l40s', 'l40'],
      ['rtx-4090', 'rtx-4080'],
    ] as const
    for (const [a, b] of pairs) expect(modelOf(catalogue, a).twins, a).not.toContain(b)
  })

  test('the H200 figures agree with what the protocol was measured on (§12)', () => {
    expect(copyBandwidth(modelOf(catalogue, 'h200-sxm'), catalogue.rules)! / 4.3e12).toBeCloseTo(1, 1)
  })
})
