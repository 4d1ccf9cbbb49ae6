import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { canonicalJson } from '../bytes/canonicalJson.ts'
import { catalogueHash } from './catalogue.ts'
import { parseCatalogue } from './parseCatalogue.ts'

/** The file behind the worked example of docs/spec/identity.md. */
const EXAMPLE = {
  version: 1,
  rules: {
    rate: {
      datasheetConsumer: { low: 0.7, high: 1.1 },
      datasheetProfessional: { low: 0.45, high: 0.95 },
      measured: { low: 0.8, high: 1.05 },
    },
    fp32: { datasheet: { low: 0.4, high: 0.95 }, measured: { low: 0.6, high: 1.05 } },
    bandwidth: { datasheet: { low: 0.78, high: 0.95 }, measured: { low: 0.95, high: 1.03 } },
  },
  sources: {
    sheet: { title: 'A datasheet', year: 2024 },
    run: { title: 'A run', year: 2025, address: 'https://example.org/run' },
  },
  models: [
    {
      id: 'card-1',
      name: 'Card 1',
      chip: 'C1',
      aliases: ['One'],
      memory: { bytes: 24 * 2 ** 30, source: 'sheet' },
      bandwidth: [
        { value: 1008e9, basis: 'datasheet', source: 'sheet' },
        { value: 950.5e9, basis: 'measured', source: 'run', atLeast: true },
      ],
      rates: { fp32: [{ value: 82.6e12, basis: 'datasheet', source: 'sheet' }] },
    },
  ],
}

test('the form that is hashed, and the hash, are those of the worked example in the specification', () => {
  const catalogue = parseCatalogue(EXAMPLE)
  const document = readFileSync(new URL('../../../docs/spec/identity.md', import.meta.url), 'utf8')
  const [, text, hash] = /^ {4}(\{"models".*\})\n\n {4}([0-9a-f]{64})$/m.exec(document)!
  expect(canonicalJson(catalogue)).toBe(text)
  expect(catalogueHash(catalogue)).toBe(hash)
})
