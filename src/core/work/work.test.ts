import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  bytesFrom,
  PLAIN_KINDS,
  PLAIN_OPS,
  type ProductKernels,
  plainEngine,
  plainProduct,
} from '../../../test/support/plainProduct.ts'
import { sha256 } from '../bytes/sha256.ts'
import { checkReceipt } from './checkReceipt.ts'
import { EngineRun } from './engineRun.ts'
import { passChance } from './guarantees.ts'
import { proveWork } from './proveWork.ts'
import { type Receipt, receiptOf, receiptSchema, stateReceipt } from './receipt.ts'
import { replayWork } from './replayWork.ts'
import { patchRunner } from './runPatch.ts'
import { openWork, type Work } from './work.ts'

const sizes = { rows: 40, columns: 24, k: 70, block: 8 }
const { work, given } = plainProduct(sizes)

/** Executes, commits, draws and opens, as a device does. */
async function execute(
  work: Work<ProductKernels>,
  engine = plainEngine(),
  nonce = 1,
  inputs = given,
): Promise<Receipt> {
  const run = new EngineRun(engine, work, inputs)
  const marks = work.ends.map((_, segment) => run.advance(segment))
  const firstRoot = new Uint8Array(32)
  const { nonces, segments } = await proveWork(work, { firstRoot, marks }, run, (draw) =>
    sha256(Uint8Array.of(nonce, draw)),
  )
  return {
    ...{ workId: work.workId, proverKey: sha256(Uint8Array.of(3)), program: 'test', device: 'test', spec: work.text },
    ...{ startedAt: '2026-01-01T00:00:00.000Z', issuedAt: '2026-01-01T00:00:00.000Z' },
    ...{ notAfter: '2026-02-01T00:00:00.000Z', orderId: work.orderId, seed: work.seed, drawnBy: 'device' },
    ...{ firstRoot, marks, nonces, segments, elapsedUs: null },
  }
}

const check = (work: Work<ProductKernels>, receipt: Receipt) =>
  checkReceipt(work, receipt, patchRunner(plainEngine(), PLAIN_OPS))

describe('a receipt', async () => {
  const honest = await execute(work)

  test('of work that was done is believed, and says how much was looked at', () => {
    const operations = 2 * 40 * 24 * 70
    const figures = {
      transitions: 5,
      segments: 5,
      drawnSegments: 5,
      patches: 128,
      operations,
      liveShare: 1,
      credited: operations,
      proven: null,
    }
    expect(check(work, honest)).toEqual({ problem: null, figures })
  })

  test('says the same after it was written and read', () => {
    const { statement, evidence } = stateReceipt(honest)
    const read = receiptOf(receiptSchema.parse(JSON.parse(JSON.stringify(statement))), evidence)!
    expect(check(work, read).problem).toBeNull()
    expect(stateReceipt(read)).toEqual(stateReceipt(honest))
  })

  test('of another work is refused', () => {
    const { problem } = check(plainProduct({ ...sizes, block: 10 }).work, honest)
    expect(problem?.code).toBe('OTHER_WORK')
  })

  test('of a product whose every entry is one too large is refused', async () => {
    const spoiled = await execute(
      work,
      plainEngine((sum) => sum + 1),
    )
    expect(check(work, spoiled).problem).toMatchObject({ code: 'PATCH_WRONG', step: 'product' })
  })

  test('passes with wrong entries as often as 128 draws miss them', async () => {
    const share = 1 / 24
    let passed = 0
    const tries = 60
    for (let nonce = 0; nonce < tries; nonce++) {
      const engine = plainEngine((sum, at) => (at % 24 === 7 && at < 24 * 4 ? sum ^ 1 : sum))
      if (check(work, await execute(work, engine, nonce)).problem === null) passed++
    }
    const expected = passChance.independent(share / 2)
    const sigma = Math.sqrt((expected * (1 - expected)) / tries)
    expect(Math.abs(passed / tries - expected)).toBeLessThan(4 * sigma)
  })

  test('of a work with one wrong entry may pass openings, and never a replay', async () => {
    const spoiled = await execute(
      work,
      plainEngine((sum, at) => (at === 5 ? sum ^ 1 : sum)),
    )
    const replay = (receipt: Receipt) => replayWork(work, receipt, new EngineRun(plainEngine(), work, given))
    expect(replay(spoiled).problem).toEqual({ code: 'REPLAY_DIFFERS', segment: 0 })
    expect(replay(honest)).toEqual({ problem: null, segments: 5 })
    const marks = honest.marks.map((mark, i) => (i === 3 ? { ...mark, statistics: [1] } : mark))
    expect(replay({ ...honest, marks }).problem).toEqual({ code: 'REPLAY_DIFFERS', segment: 3 })
  })

  test('with any byte changed is refused', () => {
    const statement = stateReceipt(honest)
    fc.assert(
      fc.property(fc.constantFrom(...honest.segments.keys()), fc.nat(), fc.boolean(), (segment, chance, inProof) => {
        const evidence = honest.segments.get(segment)!
        const at = chance % evidence.patches.length
        const spoil = (bytes: Uint8Array) => bytes.map((byte, i) => (i === chance % bytes.length ? byte ^ 1 : byte))
        const patches = evidence.patches.map((patch, i) =>
          i !== at
            ? patch
            : { ...patch, ...(inProof ? { proof: spoil(patch.proof) } : { leaves: spoil(patch.leaves) }) },
        )
        const segments = new Map(honest.segments).set(segment, { ...evidence, patches })
        expect(check(work, { ...honest, segments }).problem?.code).toBe('PATCH_NOT_COMMITTED')
      }),
      { numRuns: 30 },
    )
    expect(stateReceipt(honest)).toEqual(statement)
  })

  test('needs every drawn segment, no other nonces and no other roots', () => {
    const fewer = new Map([...honest.segments].slice(1))
    expect(check(work, { ...honest, segments: fewer }).problem?.code).toBe('NOT_AS_DRAWN')
    const nonces = [honest.nonces[0], sha256(Uint8Array.of(9))] as const
    expect(check(work, { ...honest, nonces }).problem).not.toBeNull()
    const marks = honest.marks.map((mark, i) => (i === 2 ? { ...mark, root: sha256(mark.root) } : mark))
    expect(check(work, { ...honest, marks }).problem).not.toBeNull()
  })

  test('of a segment without roots, with others or with more is refused', () => {
    for (const [segment, evidence] of honest.segments)
      for (const [trace, code] of [
        [new Uint8Array(), 'ROOTS_MISSING'],
        [evidence.trace.map((byte) => byte ^ 1), 'STATE_AFTER_DIFFERS'],
        [new Uint8Array([...evidence.trace, ...evidence.trace]), 'ROOTS_MISSING'],
      ] as const) {
        const segments = new Map(honest.segments).set(segment, { ...evidence, trace })
        expect(check(work, { ...honest, segments }).problem).toEqual({ code, segment })
      }
  })

  test('of a work on operands with a -128 is refused, and nobody executes it (W2.6.2)', async () => {
    const least = plainProduct(sizes, (name, length) =>
      bytesFrom(name, length).fill(0x80, 0, name === 'b' ? length : 0),
    )
    expect(() => new EngineRun(plainEngine(), least.work, least.given)).toThrow('b holds -128')
    // Whoever executes it all the same takes the bytes for something else.
    const given = new Map([...least.work.given].map(([name, shape]) => [name, { ...shape, type: 'u8' as const }]))
    const careless = { ...least.work, given }
    const receipt = await execute(careless, plainEngine(), 1, least.given)
    expect(check(least.work, receipt).problem).toMatchObject({ code: 'INPUT_FAULT', step: 'product' })
  })
})

test('attack 159: a last block that is almost empty counts for what is in it', async () => {
  const uneven = plainProduct({ ...sizes, rows: 33, block: 32 })
  const receipt = await execute(uneven.work, plainEngine(), 1, uneven.given)
  const { problem, figures } = check(uneven.work, receipt)
  expect(problem).toBeNull()
  expect(figures).toMatchObject({ transitions: 2, operations: 2 * 33 * 24 * 70 })
})

describe('a specification', () => {
  const { text, orderId, seed } = work
  const open = (other: string) => () => openWork(PLAIN_KINDS, PLAIN_OPS, { text: other, orderId, seed })

  test.each([
    ['in another spelling', text.replace('"block":8', '"block": 8'), 'BAD_SPEC'],
    ['with a field twice', text.replace('"block":8', '"block":8,"block":8'), 'BAD_SPEC'],
    ['of no known kind', text.replace('"matmul"', '"mining"'), 'UNKNOWN_KIND'],
    ['of absurd size', text.replace('"rows":40', '"rows":1e15'), 'BAD_SPEC'],
    ['with too few transitions', text.replace('"transitions":5', '"transitions":4'), 'BAD_SPEC'],
    ['with another input', text.replace('"name":"a"', '"name":"c"'), 'BAD_SPEC'],
    ['that is not JSON', '{', 'BAD_SPEC'],
    ['that is far too long', `${' '.repeat(70_000)}${text}`, 'TOO_BIG'],
  ])('%s is refused before anything is made', (_, other, code) => {
    expect(open(other)).toThrowError(expect.objectContaining({ code }))
  })

  test('names its inputs by root: others are refused', () => {
    const other = new Map(given).set('a', bytesFrom('other', 40 * 70))
    expect(() => new EngineRun(plainEngine(), work, other)).toThrowError(expect.objectContaining({ code: 'BAD_INPUT' }))
  })
})
