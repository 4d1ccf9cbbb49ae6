import { expect, test } from 'vitest'
import type { Inventory } from '../inventory/inventory.ts'
import { claimed } from '../params/provenance.ts'
import { cardIds, changesOf } from './changesOf.ts'

const card = (uuid: string, driver = '580.1', name = 'H100') => ({
  class: 'gpu' as const,
  backEnd: 'cuda',
  name,
  memoryBytes: 1,
  freeBytes: 1,
  precisions: ['int8' as const],
  details: { uuid, driver },
})
const box = (...devices: ReturnType<typeof card>[]): Inventory => claimed({ program: 'p', devices, host: {} })
const what = (before: Inventory | null, after: Inventory) => changesOf(before, after).map((mark) => mark.what)

test('a first sight is no change, nor is the same again, nor another order or free memory', () => {
  expect(what(null, box(card('a')))).toEqual([])
  expect(what(box(card('a'), card('b')), box({ ...card('b'), freeBytes: 0 }, card('a')))).toEqual([])
})

test('count, card and driver are noticed, each with what it was and is', () => {
  expect(what(box(card('a'), card('b')), box(card('a')))).toEqual(['count', 'card'])
  expect(what(box(card('a')), box(card('c')))).toEqual(['card'])
  expect(what(box(card('a')), box(card('a', '581', 'A100')))).toEqual(['card', 'driver'])
  expect(changesOf(box(card('a')), box(card('a', '999')))).toEqual([{ what: 'driver', before: '580.1', after: '999' }])
})

test('card ids are those that a card gives', () => {
  expect(cardIds(box(card('a'), card(''), card('b')))).toEqual(['a', 'b'])
})
