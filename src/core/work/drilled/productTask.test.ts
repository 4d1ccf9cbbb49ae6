import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { openDrill, slicesOf } from '../../../apps/work/drillChunks.ts'
import { openCpuWork } from '../../../drivers/gpu/cpu/work/openCpuWork.ts'
import { chooseEngine, openEngine } from '../../../drivers/verifier/engineStart.ts'
import { workOf } from '../../chain/workUnits.ts'
import { entryRow } from '../../proof/entries.ts'
import { referenceEngine } from '../../proof/referenceEngine.ts'
import type { TileEngine } from '../../proof/tileEngine.ts'
import { PLAIN_HASHER } from '../engineRun.ts'
import { operandRows } from './operands.ts'
import { type OpenedChunk, productChecks } from './productChecks.ts'
import { bandOf, CHUNK_ROWS, COLUMNS, isKnownTask, productChunk, productLength } from './productTask.ts'

const bytes32 = fc.uint8Array({ minLength: 32, maxLength: 32 })
const flipped = (bytes: Uint8Array, at: number) => bytes.map((byte, i) => (i === at ? byte ^ 1 : byte))
const seed = new Uint8Array(32).fill(7)
let engine: TileEngine
beforeAll(async () => {
  engine = await openEngine(await chooseEngine())
})

describe('the size of a task', () => {
  const operationsOf = (k: number, depth: number) => 2n * BigInt(CHUNK_ROWS * COLUMNS * k) * 2n ** BigInt(depth)

  test('has at least the operations that are paid for, and one step of k fewer would not', () => {
    const terms = fc.tuple(fc.bigInt({ min: 1n, max: 10n ** 8n }), fc.integer({ min: 0, max: 20 }))
    fc.assert(
      fc.property(terms, ([work, depth]) => {
        const k = productLength(work, depth)
        if (k === null) return work * 3_456_000n > operationsOf(2_048, depth)
        const less = k === 32 ? 0n : workOf({ int8: operationsOf(k - 32, depth) })
        return k % 32 === 0 && workOf({ int8: operationsOf(k, depth) }) >= work && less < work
      }),
    )
  })

  test('attack 195: a project whose tasks nobody could do or check is not known', () => {
    const terms = { kind: 0, graph: new Uint8Array(32), records: 0n, work: 4_971n, depth: 8 }
    expect(isKnownTask(terms)).toBe(true)
    for (const wrong of [
      { work: 0n },
      { work: 1n << 63n },
      { work: 4_971n << 8n },
      { depth: 21 },
      { depth: 30, work: 1n },
      { kind: 1 },
      { records: 1n },
      { graph: seed },
    ])
      expect([wrong, isKnownTask({ ...terms, ...wrong })]).toEqual([wrong, false])
  })
})

test('operands are those of Proof of GPU, entry by entry', () => {
  const place = fc.tuple(
    bytes32,
    fc.constantFrom(0 as const, 1 as const),
    fc.nat(32_000),
    fc.constantFrom(32, 96, 2_048),
  )
  fc.assert(
    fc.property(place, ([of, matrix, row, k]) => {
      const made = new Int8Array(operandRows(of, matrix, row, 2, k).buffer)
      const told = [row, row + 1].flatMap((at) => [...entryRow(of, matrix, 'int8', at, k)])
      return told.every((entry, i) => entry === made[i])
    }),
    { numRuns: 10 },
  )
})

test('what is prepared elsewhere is not computed here', async () => {
  const asked: number[] = []
  const here = () => expect.unreachable()
  const right = productChunk(engine, seed, 32, 2)
  const checks = productChecks(here, async (_, __, index) => {
    asked.push(index)
    return productChunk(engine, seed, 32, index)
  })
  const task = { projectKind: 0, seed, work: 1n, depth: 2 }
  await checks.prepare(task, [2, 2, 1, 4, 9])
  await checks.prepare(task, [1, 2])
  await checks.prepare({ ...task, projectKind: 3 }, [0])
  expect(asked).toEqual([2, 1])
  expect(checks.patch({ ...task, chunk: { index: 2, bytes: right }, inputs: [] })).toBe(true)
  expect(checks.patch({ ...task, chunk: { index: 1, bytes: right }, inputs: [] })).toBe(false)
})

describe('a chunk', () => {
  test('is the same from the definition, from the engine of the checker and from a device', async () => {
    const drill = openDrill(await openCpuWork(), PLAIN_HASHER)
    const k = 32
    const made = (await Promise.all(slicesOf(seed, k, 2).map(drill))).flat()
    expect(made).toHaveLength(4)
    for (const index of [0, 3]) expect(made[index]).toEqual(productChunk(engine, seed, k, index))
    expect(made[3]).toEqual(productChunk(referenceEngine, seed, k, 3))
  })

  test('beyond a band has matrices of its own, and a device makes it alone', async () => {
    const drill = openDrill(await openCpuWork(), PLAIN_HASHER)
    const [first, second] = [bandOf(seed, 1_023), bandOf(seed, 1_024)]
    expect([first.tileRow, second.tileRow]).toEqual([1_023, 0])
    expect(first.seed).not.toEqual(second.seed)
    const [made] = await drill({ seed, k: 32, first: 1_024, count: 1 })
    expect(made).toEqual(productChunk(engine, seed, 32, 1_024))
    expect(slicesOf(seed, 32, 12).every(({ first: at, count }) => at % 1_024 <= 1_024 - count)).toBe(true)
  })

  test('attack 196: another chunk, one of another place, seed or size is not right, however often it is shown', () => {
    let computed = 0
    const checks = productChecks((...asked) => {
      computed++
      return productChunk(engine, ...asked)
    })
    const right = productChunk(engine, seed, 32, 1)
    const shown: OpenedChunk = {
      projectKind: 0,
      seed,
      work: 1n,
      depth: 2,
      chunk: { index: 1, bytes: right },
      inputs: [],
    }
    for (let times = 0; times < 3; times++) expect(checks.patch(shown)).toBe(true)
    expect(checks.patch({ ...shown, chunk: { index: 1, bytes: flipped(right, 9) } })).toBe(false)
    expect(computed).toBe(1)
    const wrongs: Partial<OpenedChunk>[] = [
      { chunk: { index: 0, bytes: right } },
      { chunk: { index: 4, bytes: right } },
      { chunk: { index: 1, bytes: right.subarray(1) } },
      { chunk: { index: 1, bytes: new Uint8Array() } },
      { seed: flipped(seed, 3) },
      { work: 2_000n },
      { work: 1n << 60n },
      { depth: 30 },
      { projectKind: 1 },
      { inputs: [right] },
    ]
    for (const wrong of wrongs) expect([wrong, checks.patch({ ...shown, ...wrong })]).toEqual([wrong, false])
  })
})
