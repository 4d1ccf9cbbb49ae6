import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { catalogueHash } from './catalogue.ts'
import { parseCatalogue } from './parseCatalogue.ts'

const pair = { datasheet: { low: 0.5, high: 0.9 }, measured: { low: 0.8, high: 1.1 } }
const RATE = { datasheetConsumer: pair.datasheet, datasheetProfessional: pair.datasheet, measured: pair.measured }
const card = (id: string, more: object = {}) => ({
  id,
  name: `Card ${id}`,
  chip: 'X1',
  memory: { bytes: 1e10, source: 'sheet' },
  bandwidth: [{ value: 1e12, basis: 'datasheet', source: 'sheet' }],
  rates: { bf16: [{ value: 1e14, basis: 'measured', source: 'page' }] },
  ...more,
})
const file = (...models: readonly object[]) => ({
  version: 1,
  rules: { rate: RATE, fp32: pair, bandwidth: pair },
  sources: { sheet: { title: 'Sheet', year: 2024 }, page: { title: 'Page', year: 2025, address: 'https://a.example' } },
  models,
})

describe('parseCatalogue', () => {
  test('reads a model and fills the defaults', () => {
    const [model] = parseCatalogue(file(card('a'))).models
    expect(model).toMatchObject({
      id: 'a',
      vendor: 'NVIDIA',
      line: 'professional',
      hostLink: 'pcie',
      nvlink: false,
      twins: [],
      aliases: [],
    })
  })

  test.each([
    ['a field nobody knows', card('a', { vram: 1 }), 'model a, field vram is not a known field'],
    [
      'a rate of zero',
      card('a', { rates: { bf16: [{ value: 0, basis: 'measured', source: 'page' }] } }),
      'model a, field rates.bf16[0].value must be a number above 0',
    ],
    [
      'a figure without a source',
      card('a', { bandwidth: [{ value: 1, basis: 'datasheet' }] }),
      'model a, field bandwidth[0].source must be',
    ],
    ['an unlisted source', card('a', { memory: { bytes: 1, source: 'x' } }), 'names the source x, which is not listed'],
    [
      'more memory reported than there is',
      card('a', { reported: { bytes: 2e10, source: 'sheet' } }),
      'model a, field reported.bytes must be at most the bytes of memory',
    ],
    ['a report without its source', card('a', { reported: { bytes: 1, source: 'x' } }), 'names the source x'],
    ['an unknown precision', card('a', { rates: { fp4: [] } }), 'model a, field rates.fp4 is not a known field'],
    [
      'an unknown basis',
      card('a', { bandwidth: [{ value: 1, basis: 'guess', source: 'sheet' }] }),
      'must be one of datasheet, measured',
    ],
    [
      'a model that nobody measured',
      card('a', { rates: { bf16: [{ value: 1, basis: 'datasheet', source: 'sheet' }] } }),
      'model a has no measured figure',
    ],
    ['a twin that is missing', card('a', { twins: ['b'] }), 'names b, which is not in the catalogue'],
    ['terminal escapes in a name', card('a', { name: '\u001b[31m' }), 'printable ASCII'],
  ])('refuses %s, naming model and field', (_, model, sentence) => {
    expect(() => parseCatalogue(file(model))).toThrow(sentence)
  })

  test('refuses the same id twice, and twins of other chips or of one side only', () => {
    expect(() => parseCatalogue(file(card('a'), card('a')))).toThrow('model a, field id appears twice')
    const other = card('b', { chip: 'X2', twins: ['a'] })
    expect(() => parseCatalogue(file(card('a', { twins: ['b'] }), other))).toThrow('another chip')
    expect(() => parseCatalogue(file(card('a', { twins: ['b'] }), card('b')))).toThrow('does not name it back')
  })

  test('whatever it is given, it answers with a catalogue or with its own error', () => {
    fc.assert(
      fc.property(fc.anything(), (value) => {
        expect(() => parseCatalogue(value)).toThrow(/^Catalogue: /)
      }),
      { numRuns: 200 },
    )
  })
})

describe('catalogueHash', () => {
  test('does not depend on the order of fields, and on every value', () => {
    const parsed = parseCatalogue(file(card('a')))
    const turned = parseCatalogue(Object.fromEntries(Object.entries(file(card('a'))).reverse()))
    expect(catalogueHash(parsed)).toBe(catalogueHash(turned))
    expect(catalogueHash(parsed)).toMatch(/^[0-9a-f]{64}$/)
    expect(catalogueHash(parseCatalogue(file(card('a', { nvlink: true }))))).not.toBe(catalogueHash(parsed))
  })
})
