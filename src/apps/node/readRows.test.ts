import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { CheckedRow } from '../../core/chain/envelopes.ts'
import { type Row, readRows } from './readRows.ts'

/** A peer whose blocks are their own heights, and that answers with so many at a time. */
const peerWith = (height: number, sizes: readonly number[]) => {
  const asked: number[] = []
  const ask = async (from: number) => {
    asked.push(from)
    const count = Math.min(sizes[asked.length % sizes.length]!, height - from + 1)
    return Array.from({ length: Math.max(0, count) }, (_, i) => blockAt(from + i))
  }
  return { ask, asked }
}
const blockAt = (height: number) => Uint8Array.of(height >> 8, height & 255)
const heightOf = (block: Uint8Array) => block[0]! * 256 + block[1]!
const allRight = async (blocks: readonly Uint8Array[]): Promise<CheckedRow> => ({ right: blocks.length, drawn: [] })

async function read(rows: AsyncGenerator<Row>): Promise<Row[]> {
  const read: Row[] = []
  for await (const row of rows) read.push(row)
  return read
}

test('every block comes once and in order, whatever answers are cut into', () =>
  fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 0, max: 900 }),
      fc.array(fc.integer({ min: 1, max: 64 }), { minLength: 1, maxLength: 5 }),
      async (height, sizes) => {
        const rows = await read(readRows({ ask: peerWith(height, sizes).ask, check: allRight }, 1))
        expect(rows.flatMap(({ blocks }) => blocks.map(heightOf))).toEqual(
          Array.from({ length: height }, (_, i) => i + 1),
        )
        expect(Math.max(0, ...rows.map(({ blocks }) => blocks.length))).toBeLessThanOrEqual(256)
      },
    ),
    { numRuns: 40 },
  ))

test('a row ends with the answer that is not right to its end, and says up to where it is', async () => {
  const check = async (blocks: readonly Uint8Array[]): Promise<CheckedRow> => {
    const wrong = blocks.findIndex((block) => heightOf(block) === 150)
    return { right: wrong === -1 ? blocks.length : wrong, drawn: [] }
  }
  const rows = await read(readRows({ ask: peerWith(300, [64]).ask, check }, 1))
  const spoiled = rows.find(({ blocks, checked }) => checked.right < blocks.length)!
  expect(heightOf(spoiled.blocks[spoiled.checked.right]!)).toBe(150)
  expect(heightOf(spoiled.blocks.at(-1)!)).toBe(192)
})

test('no more is asked for than may lie here, and nothing once nobody reads on', async () => {
  const { ask, asked } = peerWith(60_000, [64])
  const rows = readRows({ ask, check: allRight }, 1)
  const { value } = await rows.next()
  for (let turn = 0; turn < 100; turn++) await Promise.resolve()
  const taken = (value as Row).blocks.length
  expect(asked.length * 64).toBeLessThanOrEqual(taken + 512)
  await rows.return(undefined)
  const before = asked.length
  for (let turn = 0; turn < 100; turn++) await Promise.resolve()
  expect(asked.length).toBe(before)
})

test('a peer that fails ends the rows with its fault', async () => {
  const ask = async (from: number) => {
    if (from > 64) throw new Error('gone')
    return peerWith(64, [64]).ask(from)
  }
  await expect(read(readRows({ ask, check: allRight }, 1))).rejects.toThrow('gone')
})
