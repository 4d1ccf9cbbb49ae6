import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { concatBytes, equalBytes } from '../bytes/bytes.ts'
import { sha256 } from '../bytes/sha256.ts'
import { buildTree, HASH_BYTES, leafHash, nodeHash, padRoots, pathOf, rootFrom, rootOf } from './merkle.ts'

const hash = fc.uint8Array({ minLength: HASH_BYTES, maxLength: HASH_BYTES })
const leaves = fc
  .tuple(fc.nat(5), fc.array(hash, { minLength: 32, maxLength: 32 }))
  .map(([depth, hashes]) => hashes.slice(0, 2 ** depth))
const place = fc.tuple(leaves, fc.nat(31)).map(([all, at]) => ({ all, index: at % all.length }))
const reaches = (all: readonly Uint8Array[], leaf: Uint8Array, index: number, path: Uint8Array) =>
  equalBytes(rootFrom(leaf, index, path), rootOf(all))

describe('Merkle trees', () => {
  test('property: every leaf reaches the root along its own path, which is as long as the tree is deep', () => {
    fc.assert(
      fc.property(place, ({ all, index }) => {
        const path = pathOf(buildTree(all), index)
        expect(path.length).toBe(HASH_BYTES * Math.log2(all.length))
        expect(reaches(all, all[index]!, index, path)).toBe(true)
      }),
    )
  })

  test('property: attack 9, a changed leaf, sibling or index reaches another root', () => {
    fc.assert(
      fc.property(place, fc.nat(1023), fc.integer({ min: 1, max: 255 }), ({ all, index }, at, change) => {
        const path = pathOf(buildTree(all), index)
        const leaf = all[index]!.slice()
        leaf[at % HASH_BYTES] = leaf[at % HASH_BYTES]! ^ change
        expect(reaches(all, leaf, index, path)).toBe(false)
        if (path.length === 0) return
        const other = path.slice()
        other[at % path.length] = other[at % path.length]! ^ change
        expect(reaches(all, all[index]!, index, other)).toBe(false)
        const wrong = (index + 1 + (at % (all.length - 1))) % all.length
        const same = equalBytes(all[index]!, path.subarray(0, HASH_BYTES))
        if (!same) expect(reaches(all, all[index]!, wrong, path)).toBe(false)
      }),
    )
  })

  test('property: attack 9, a short path, a long path and an inner node posing as a leaf reach another root', () => {
    fc.assert(
      fc.property(place, hash, ({ all, index }, extra) => {
        const levels = buildTree(all)
        const path = pathOf(levels, index)
        expect(reaches(all, all[index]!, index, concatBytes(path, extra))).toBe(false)
        if (path.length === 0) return
        expect(reaches(all, all[index]!, index, path.subarray(HASH_BYTES))).toBe(false)
        expect(reaches(all, all[index]!, index, path.subarray(0, -HASH_BYTES))).toBe(false)
        // With the path of the right length the inner node fails; only a verifier that lets the prover choose the length falls.
        expect(reaches(all, levels[1]![index >> 1]!, index, path)).toBe(false)
        expect(reaches(all, levels[1]![index >> 1]!, index >> 1, path.subarray(HASH_BYTES))).toBe(true)
      }),
    )
  })

  test('property: attack 9, a tree of fewer leaves with the last one repeated has another root', () => {
    fc.assert(
      fc.property(
        leaves.filter((all) => all.length > 1),
        (all) => {
          const repeated = [...all.slice(0, -1), all.at(-2)!]
          fc.pre(!equalBytes(all.at(-1)!, all.at(-2)!))
          expect(equalBytes(rootOf(repeated), rootOf(all))).toBe(false)
        },
      ),
    )
  })

  test('a leaf and a node never hash the same bytes', () => {
    const [left, right] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)]
    expect(nodeHash(left, right)).toEqual(sha256(Uint8Array.of(1), left, right))
    expect(leafHash(5, { f0: 6n, f1: 7n })).not.toEqual(leafHash(6, { f0: 6n, f1: 7n }))
    expect(leafHash(5, { f0: 6n, f1: 7n })).toEqual(
      sha256(Uint8Array.from({ length: 25 }, (_, i) => (i === 1 ? 5 : i === 9 ? 6 : i === 17 ? 7 : 0))),
    )
  })

  test('property: padding fills up to a power of two with zeros and changes nothing before it', () => {
    fc.assert(
      fc.property(fc.array(hash, { minLength: 1, maxLength: 40 }), (roots) => {
        const padded = padRoots(roots)
        expect(Math.log2(padded.length) % 1).toBe(0)
        expect(padded.length).toBeLessThan(2 * roots.length)
        expect(padded.slice(0, roots.length)).toEqual(roots)
        for (const zero of padded.slice(roots.length)) expect(zero).toEqual(new Uint8Array(32))
      }),
    )
  })
})
