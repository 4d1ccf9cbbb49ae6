import { expect, test } from 'vitest'
import { shippedCatalogue } from '../../../test/sim/shippedCatalogue.ts'
import { buyerName } from './buyerName.ts'

const catalogue = await shippedCatalogue()
const h200 = ['gh200-144gb', 'h200-sxm', 'h200-nvl']

test('an H200 is called so, and not by the card that is likelier by a hair', () => {
  expect(buyerName(h200, catalogue)).toBe('H200 SXM, H200 NVL or GH200 144GB')
  expect(buyerName(h200, catalogue, ['h200-sxm', 'h200-nvl'])).toBe('H200 SXM or H200 NVL')
  expect(buyerName(h200, catalogue, ['h200-sxm'])).toBe('H200 SXM')
  expect(buyerName(h200, catalogue, ['l4'])).toBe('H200 SXM, H200 NVL or GH200 144GB')
})

test('one card has one name, an unknown card none', () => {
  expect(buyerName(['rtx-4090'], catalogue)).toBe('GeForce RTX 4090')
  expect(buyerName(['h100-pcie'], catalogue)).toBe('H100 PCIe')
  expect(buyerName([], catalogue)).toBeNull()
})

test('every name is short enough for a listing', () => {
  for (const { id, twins } of catalogue.models)
    expect(buyerName([id, ...twins], catalogue)!.length).toBeLessThanOrEqual(120)
})

test('attack 133: one GPU of a product with several is not called the product', () => {
  expect(buyerName(['gb200'], catalogue)).toBe('GB200 (one of its GPUs)')
  expect(buyerName(['k80'], catalogue)).toBe('Tesla K80 (one of its two GPUs)')
})
