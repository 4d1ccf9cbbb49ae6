import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { leafSpan, leavesOf, leavesUnder, packRegion, type Region, type TensorShape, tensorBytes } from './tensor.ts'
import { depthOf, proofBytes, proveLeaves, rootFromLeaves, tensorLeaf, tensorLevels } from './tensorTree.ts'
import { engineOnOwned, hasherOn } from './workEngine.ts'
import { createWorkKernels } from './workKernels.ts'

const wasm = readFileSync(new URL('../../../kernels/built/work.wasm', import.meta.url))

const shapes = fc.record({
  type: fc.constantFrom('i8', 'f32', 'u8', 'i32', 'u32') as fc.Arbitrary<TensorShape['type']>,
  rows: fc.integer({ min: 1, max: 9 }),
  width: fc.integer({ min: 1, max: 700 }),
})

const regionIn = ({ rows, width }: TensorShape): fc.Arbitrary<Region> =>
  fc.tuple(fc.nat(rows - 1), fc.nat(width - 1)).chain(([row, column]) =>
    fc.record({
      row: fc.constant(row),
      rows: fc.integer({ min: 1, max: rows - row }),
      column: fc.constant(column),
      columns: fc.integer({ min: 1, max: width - column }),
    }),
  )

const cases = shapes.chain((shape) =>
  fc.record({
    shape: fc.constant(shape),
    region: regionIn(shape),
    bytes: fc.uint8Array({ minLength: tensorBytes(shape), maxLength: tensorBytes(shape) }),
  }),
)

const leafOf = (shape: TensorShape, bytes: Uint8Array, leaf: number) => {
  const { start, length } = leafSpan(shape, leaf)
  return bytes.subarray(start, start + length)
}

test('the leaves of a tensor are its bytes, each once and in order', () => {
  fc.assert(
    fc.property(cases, ({ shape, bytes }) => {
      const leaves = Array.from({ length: leavesOf(shape) }, (_, leaf) => [...leafOf(shape, bytes, leaf)])
      expect(leaves.flat()).toEqual([...bytes])
    }),
    { numRuns: 50 },
  )
})

test('a region is packed from its leaves alone', () => {
  fc.assert(
    fc.property(cases, ({ shape, region, bytes }) => {
      const given = new Map(leavesUnder(shape, region).map((leaf) => [leaf, leafOf(shape, bytes, leaf)]))
      const size = tensorBytes({ ...shape, rows: 1, width: 1 })
      const expected = Array.from({ length: region.rows }, (_, i) => {
        const start = ((region.row + i) * shape.width + region.column) * size
        return [...bytes.subarray(start, start + region.columns * size)]
      })
      expect([...packRegion(shape, region, (leaf) => given.get(leaf)!)]).toEqual(expected.flat())
    }),
    { numRuns: 100 },
  )
})

test('opened leaves lead to the root of the whole; a changed leaf, or one at another place, does not', async () => {
  const hasher = hasherOn(engineOnOwned(await createWorkKernels(wasm)))
  fc.assert(
    fc.property(cases, fc.nat(), ({ shape, region, bytes }, chance) => {
      const levels = tensorLevels(shape, bytes)
      const leaves = leavesUnder(shape, region)
      const depth = depthOf(leavesOf(shape))
      const proof = proveLeaves(levels, leaves)
      expect(proof.length).toBe(proofBytes(depth, leaves))
      const opened = new Map(leaves.map((leaf) => [leaf, tensorLeaf(leafOf(shape, bytes, leaf))]))
      const root = levels.at(-1)![0]!
      expect(rootFromLeaves(depth, opened, proof)).toEqual(root)
      const contents = new Map(leaves.map((leaf) => [leaf, leafOf(shape, bytes, leaf)]))
      expect(hasher.rootOfOpened(shape, contents, proof)).toEqual(root)
      const at = leaves[chance % leaves.length]!
      const other = Uint8Array.from(leafOf(shape, bytes, at))
      other[chance % other.length]! ^= 1
      expect(rootFromLeaves(depth, new Map(opened).set(at, tensorLeaf(other)), proof)).not.toEqual(root)
      expect(() => rootFromLeaves(depth, opened, new Uint8Array(proof.length + 32))).toThrow(RangeError)
    }),
    { numRuns: 60 },
  )
})
