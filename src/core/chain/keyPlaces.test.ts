import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { KeyPlaces } from './keyPlaces.ts'

/** Keys that all hash to the same slot, as somebody would choose them who has read the code. */
function colliding(number: number): Uint8Array {
  const words = new Int32Array(8).fill(number)
  let hash = 0
  for (const word of words.subarray(0, 7)) {
    hash = Math.imul(hash ^ word, 0x9e3779b1)
    hash ^= hash >>> 15
  }
  words[7] = hash ^ 12_345
  return new Uint8Array(words.buffer)
}
const plain = (number: number) => new Uint8Array(32).fill(number & 0xff).fill(number >> 8, 0, 9)

describe('the places of keys', () => {
  test('property: are those of each branch, however the branches differ and whoever chose the keys', () => {
    const key = fc.oneof(fc.nat({ max: 60 }).map(colliding), fc.nat({ max: 400 }).map(plain))
    const step = fc.record({ key, branch: fc.nat({ max: 2 }) })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
        const places = new KeyPlaces()
        const branches: Uint8Array[][] = [[], [], []]
        const find = (list: readonly Uint8Array[], wanted: Uint8Array) =>
          places.find(wanted, list.length, (place) => list[place]!)
        for (const { key: wanted, branch } of steps) {
          const list = branches[branch]!
          if (find(list, wanted) !== -1) continue
          places.note(wanted, list.length)
          list.push(wanted)
        }
        for (const list of branches)
          for (const { key: wanted } of steps)
            expect(find(list, wanted)).toBe(list.findIndex((each) => each.join() === wanted.join()))
      }),
      { numRuns: 40 },
    )
  })

  test('a hundred keys that were chosen to meet are all found, and keep nobody else out', () => {
    const places = new KeyPlaces()
    const list = Array.from({ length: 400 }, (_, i) => (i < 100 ? colliding(i) : plain(i)))
    for (const [place, key] of list.entries()) places.note(key, place)
    const at = (place: number) => list[place]!
    expect(list.map((key) => places.find(key, list.length, at))).toEqual([...list.keys()])
    expect(places.find(colliding(100), list.length, at)).toBe(-1)
    expect(places.find(list[399]!, 399, at)).toBe(-1)
  })

  test('a key that is not 32 bytes long stands nowhere', () => {
    const places = new KeyPlaces()
    places.note(plain(1), 0)
    for (const length of [0, 31, 33]) expect(places.find(new Uint8Array(length).fill(1), 1, () => plain(1))).toBe(-1)
  })
})
