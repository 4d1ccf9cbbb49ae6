import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fakeWorkDriver } from '../../../../../test/support/fakeWorkCard.ts'
import { toHex } from '../../../../core/bytes/hex.ts'
import { tensorRoot } from '../../../../core/work/tensorTree.ts'
import { WorkCard } from './card.ts'

const wasm = readFileSync(new URL('../../../../../kernels/built/work.wasm', import.meta.url))

const shapes = fc.array(
  fc.oneof(
    // Trees of one launch and of several, short leaves and long ones, with and without padding.
    fc.record({ rows: fc.constantFrom(1, 7, 256, 257, 2048, 2049, 4100), width: fc.constantFrom(1, 16, 33) }),
    fc.record({ rows: fc.integer({ min: 1, max: 300 }), width: fc.constantFrom(128, 256, 257, 600) }),
  ),
  { minLength: 1, maxLength: 4 },
)

test('tensors hashed together on a card have the roots of the specification', async () => {
  await fc.assert(
    fc.asyncProperty(shapes, fc.integer(), async (sizes, seed) => {
      const api = await fakeWorkDriver(wasm)
      const card = new WorkCard({ api, context: 1n, library: null, ptx: '', fieldPtx: '', fusedPtx: null })
      const tensors = sizes.map(({ rows, width }, i) => {
        const shape = { type: 'f32', rows, width } as const
        const bytes = new Uint8Array(4 * rows * width).map((_, at) => (at * 31 + i + seed) >> (at % 7))
        return { shape, bytes, place: card.write(`${i}`, shape, bytes) }
      })
      const roots = card.memory.make('roots', { type: 'u8', rows: tensors.length, width: 32 })
      card.roots(
        tensors.map(({ place }) => place),
        roots.at,
      )
      const wanted = tensors.map(({ shape, bytes }) => toHex(tensorRoot(shape, bytes)))
      expect(toHex(await card.readWhole(roots))).toBe(wanted.join(''))
    }),
    { numRuns: 6 },
  )
})
