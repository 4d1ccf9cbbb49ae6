import { readFileSync } from 'node:fs'
import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { plainProduct } from '../../../../test/support/plainProduct.ts'
import { PLAIN_HASHER } from '../engineRun.ts'
import { leafSpan, tensorBytes } from '../tensor.ts'
import { tensorLevels } from '../tensorTree.ts'
import { segmentPrograms } from '../work.ts'
import { engineOnOwned, hasherOn } from '../workEngine.ts'
import { createWorkKernels } from '../workKernels.ts'
import { engineDisputant } from './engineDisputant.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void
const heldBytes = (): number => {
  // What lay in buffers is given back a collection later.
  collect()
  collect()
  const { used_heap_size, external_memory } = getHeapStatistics()
  return used_heap_size + external_memory
}

const wasm = readFileSync(new URL('../../../../kernels/built/work.wasm', import.meta.url))
const hasher = hasherOn(engineOnOwned(await createWorkKernels(wasm)))

const at = { transition: 0, step: 0, output: 0 }

/** A side of a dispute over a work, of which every output is what `outputOf` says. */
function sideOf({ work }: ReturnType<typeof plainProduct>, outputOf: () => Uint8Array, by = hasher) {
  const marks = work.ends.map((transition) => ({ transition, root: new Uint8Array(32), statistics: [] }))
  const run = { trace: () => [], open: () => [], outputOf }
  const side = engineDisputant(work, run, async () => by, new Uint8Array(32), marks)
  return { side, shape: segmentPrograms(work, 0)[0]!.shaped[0]!.outputs[0]! }
}

const sizes = { rows: fc.integer({ min: 1, max: 40 }), columns: fc.integer({ min: 1, max: 700 }), seed: fc.nat() }

test('whatever is asked of an output, in any order, is what its whole tree has there', async () => {
  await fc.assert(
    fc.asyncProperty(fc.record(sizes), fc.boolean(), async ({ rows, columns, seed }, isPlain) => {
      const product = plainProduct({ rows, columns, k: 1, block: rows })
      const bytes = new Uint8Array(4 * rows * columns).map((_, i) => (i * 31 + seed) >> 3)
      const { side, shape } = sideOf(product, () => bytes, isPlain ? PLAIN_HASHER : hasher)
      const levels = tensorLevels(shape, bytes)
      for (const [level, nodes] of [...levels.entries()].reverse()) {
        const from = seed % nodes.length
        expect(await side.nodes(0, at, level, from, 16)).toEqual(nodes.slice(from, from + 16))
        expect(await side.nodes(0, at, level, 0, nodes.length)).toEqual(nodes)
      }
      const { start, length } = leafSpan(shape, seed % rows)
      expect(await side.leaf(0, at, seed % rows)).toEqual(bytes.slice(start, start + length))
    }),
    { numRuns: 40 },
  )
})

test('attack 521: an honest side of a dispute over large tensors keeps one of them at a time, and little of its tree', async () => {
  // Leaves of 4 bytes: the whole tree has 16 times the bytes of the tensor.
  const product = plainProduct({ rows: 2 ** 16, columns: 1, k: 1, block: 2 ** 15 })
  const before = heldBytes()
  const held: number[] = []
  const { side, shape } = sideOf(product, () => {
    held.push(heldBytes() - before)
    return new Uint8Array(tensorBytes(shape)).fill(7)
  })
  for (const segment of [0, 1]) {
    expect(await side.nodes(segment, at, 4, 0, 16)).toHaveLength(16)
    held.push(heldBytes() - before - tensorBytes(shape))
  }
  expect(held).toHaveLength(4)
  expect(Math.max(...held)).toBeLessThan(2 ** 20)
})
