import { expect, test } from 'vitest'
import type { BoxEntry, Store } from '../../ports/store.ts'
import { putBoxes } from './putBoxes.ts'

/** As a store answers, by its suite. */
function storeOf(...entries: readonly BoxEntry[]) {
  const boxes = new Map(entries.map((entry) => [entry.id, entry]))
  const store: Pick<Store, 'putBox' | 'removeBox'> = {
    putBox: async (entry) => {
      const other = [...boxes.values()].find(({ id, address }) => id !== entry.id && address === entry.address)
      const allocated = entry.allocated ?? boxes.get(entry.id)?.allocated ?? false
      if (!other) boxes.set(entry.id, { ...entry, allocated })
      return other?.id ?? null
    },
    removeBox: async (id) => boxes.delete(id),
  }
  return { store, boxes }
}

const box = (id: string, host = id) => ({ id, address: `ssh://${host}:22`, provider: 'p', claim: null })
const silent = { warn: () => {} }

test('attack 155: of two boxes of validator.yaml with one address the second is refused', async () => {
  const { store, boxes } = storeOf()
  const twice = putBoxes(store, { boxes: [box('a'), box('b'), box('c', 'a')] }, silent)
  await expect(twice).rejects.toMatchObject({ detail: { code: 'ADDRESS_TWICE', one: 'a', other: 'c' } })
  expect([...boxes.keys()]).toEqual(['a', 'b'])
})

test('boxes of validator.yaml that exchange addresses, or pass one on, move; who is rented stays so', async () => {
  const { store, boxes } = storeOf(
    ...['a', 'b', 'c', 'd', 'e'].map((id) => ({ ...box(id), allocated: ['a', 'b', 'd'].includes(id) })),
  )
  const now = [box('a', 'b'), box('b', 'c'), box('c', 'a'), box('d', 'e'), box('e', 'f')]
  await putBoxes(store, { boxes: now }, silent)
  expect([...boxes.values()]).toEqual(now.map((one) => ({ ...one, allocated: ['a', 'b', 'd'].includes(one.id) })))
})

test('of two boxes with one address the one that has it loses nothing by the other, wherever it stands', async () => {
  const { store, boxes } = storeOf({ ...box('c'), allocated: true })
  const before = boxes.get('c')
  const twice = putBoxes(store, { boxes: [box('a', 'c'), box('c')] }, silent)
  await expect(twice).rejects.toMatchObject({ detail: { code: 'ADDRESS_TWICE', one: 'c', other: 'a' } })
  expect([...boxes.values()]).toEqual([before])
})

test('attacks 155 and 327: what validator.yaml gives a new name, or somebody added before it, is one box; renting is kept', async () => {
  const { store, boxes } = storeOf(
    { ...box('old'), allocated: false },
    { ...box('rented'), allocated: true },
    { ...box('other'), allocated: true },
  )
  await putBoxes(store, { boxes: [box('new', 'old'), box('rented')] }, silent)
  expect([...boxes.values()].map(({ id, allocated }) => [id, allocated])).toEqual([
    ['rented', true],
    ['other', true],
    ['new', false],
  ])
})
