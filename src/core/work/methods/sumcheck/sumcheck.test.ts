import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { nativeLibraries } from '../../../../../test/support/nativeLibraries.ts'
import {
  cheatsThatPass,
  judge,
  multiplied,
  openWasmField,
  provenProduct,
  SUMCHECK_CHEATS,
  stateProduct,
} from '../../../../../test/support/sumcheckCheats.ts'
import { fromHex, toHex } from '../../../bytes/hex.ts'
import { PLAIN_HASHER } from '../../engineRun.ts'
import { evaluate, type FieldEngine } from './evaluate.ts'
import { decodePairs, encodePairs, P, type Pair, plus, times, ZERO } from './field.ts'
import { checkHashedSumcheck, proveSumcheck, sumcheckError, sumcheckProofBytes } from './sumcheck.ts'

interface Vector {
  readonly rows: number
  readonly columns: number
  readonly k: number
  readonly block: number
  readonly workId: string
  readonly a: readonly (readonly number[])[]
  readonly b: readonly (readonly number[])[]
  readonly c: readonly (readonly number[])[]
  readonly proof: string
}

const VECTORS: readonly Vector[] = JSON.parse(
  readFileSync(new URL('../../../../../test/vectors/sumcheck.json', import.meta.url), 'utf8'),
)

const wasm = await openWasmField()
const MEMORY = 2 ** 22
const native = (await nativeLibraries()).map(({ file, native }): [string, FieldEngine] => {
  const memory = new Uint8Array(MEMORY)
  const reserve = (end: number) => expect(end).toBeLessThan(MEMORY)
  return [
    file,
    { kernels: native.fieldOn(memory), start: 64, view: (at, bytes) => memory.subarray(at, at + bytes), reserve },
  ]
})
const engines: readonly (readonly [string, FieldEngine])[] = [['WebAssembly', wasm], ...native]

const half = fc.oneof(fc.bigInt(0n, P - 1n), fc.constantFrom(0n, 1n, P - 1n, P - 2n, 2n ** 31n, 2n ** 60n))
const pair = fc.record({ re: half, im: half })

const weightOf = (point: readonly Pair[], index: number): Pair =>
  point.reduce(
    (product, at, bit) =>
      times(product, (index >> bit) & 1 ? at : plus({ re: 1n, im: 0n }, times(at, { re: P - 1n, im: 0n }))),
    { re: 1n, im: 0n },
  )

describe('numbers of the field', () => {
  test('have one spelling, and nothing else is read', () => {
    fc.assert(
      fc.property(fc.array(pair), (all) => {
        expect(decodePairs(encodePairs(all), all.length)).toEqual(all)
      }),
    )
    const bytes = new Uint8Array(16)
    new DataView(bytes.buffer).setBigUint64(8, P, true)
    expect(decodePairs(bytes, 1)).toBeNull()
    expect(decodePairs(new Uint8Array(15), 1)).toBeNull()
  })
})

describe.each(engines)('a sumcheck on %s', (_, engine) => {
  test('makes the proofs of the independent implementation, byte for byte', () => {
    for (const { a, b, c, workId, proof, ...sizes } of VECTORS) {
      const bytes = (rows: readonly (readonly number[])[]) => new Uint8Array(Int8Array.from(rows.flat()).buffer)
      const words = (rows: readonly (readonly number[])[]) => new Uint8Array(Int32Array.from(rows.flat()).buffer)
      const blocks = Array.from({ length: Math.ceil(sizes.rows / sizes.block) }, (_, i) =>
        words(c.slice(i * sizes.block, (i + 1) * sizes.block)),
      )
      const tensors = { a: bytes(a), b: bytes(b), c: blocks }
      const statement = stateProduct(sizes, fromHex(workId, 32)!, tensors)
      expect(toHex(proveSumcheck(engine, statement, tensors))).toBe(proof)
      expect(proof.length / 2).toBe(sumcheckProofBytes(sizes.k))
      expect(judge(engine, { statement, tensors, proof: fromHex(proof, proof.length / 2)! })).toBeNull()
    }
  })

  test('evaluates matrices of every number as their definition says', () => {
    const type = fc.constantFrom('i8' as const, 'i32' as const)
    const points = fc.array(pair, { minLength: 6, maxLength: 6 })
    fc.assert(
      fc.property(
        type,
        fc.integer({ min: 1, max: 9 }),
        fc.integer({ min: 1, max: 40 }),
        points,
        (type, rows, width, at) => {
          const size = type === 'i8' ? 1 : 4
          const bytes = new Uint8Array(rows * width * size).map((_, i) => [0x80, 0xff, 0x7f, 0, i & 255][(i >> 2) % 5]!)
          const entries = type === 'i8' ? new Int8Array(bytes.buffer) : new Int32Array(bytes.buffer)
          const [row, column] = [at.slice(0, Math.ceil(Math.log2(rows))), at.slice(0, Math.ceil(Math.log2(width)))]
          let expected: Pair = ZERO
          for (const [i, entry] of entries.entries()) {
            const weight = times(weightOf(row, Math.floor(i / width)), weightOf(column, i % width))
            expected = plus(expected, times({ re: (BigInt(entry) + P) % P, im: 0n }, weight))
          }
          const shape = { type, rows, width }
          expect(evaluate(engine, { shape, stretches: [bytes] }, row, column)).toEqual(expected)
        },
      ),
      { numRuns: 40 },
    )
  })

  test('holds the sums of the largest entries over more than one stretch', () => {
    const width = 2100
    const column = Array.from({ length: 12 }, () => ({ re: P - 1n, im: P - 2n }))
    for (const [type, bytes, entry] of [
      ['i8', new Uint8Array(width).fill(0x80), -128n],
      ['i32', new Uint8Array(new Int32Array(width).fill(-(2 ** 31)).buffer), -(2n ** 31n)],
    ] as const) {
      let sum: Pair = ZERO
      for (let i = 0; i < width; i++) sum = plus(sum, weightOf(column, i))
      const found = evaluate(engine, { shape: { type, rows: 1, width }, stretches: [bytes] }, [], column)
      expect(found).toEqual(times(sum, { re: (entry + P) % P, im: 0n }))
    }
  })

  test('proves products of any shape, wider than one block of columns among them', () => {
    for (const [seed, sizes] of [
      { rows: 1, columns: 1, k: 1, block: 1 },
      { rows: 5, columns: 3, k: 1100, block: 2 },
      { rows: 33, columns: 17, k: 64, block: 8 },
    ].entries())
      expect(judge(engine, provenProduct(engine, sizes, seed))).toBeNull()
  })
})

describe('a sumcheck', () => {
  test.each(Object.entries(SUMCHECK_CHEATS))('finds %s, 100 times', (_, cheat) => {
    expect(cheatsThatPass(wasm, cheat, 100)).toBe(0)
  })

  test('says what is wrong', () => {
    const honest = provenProduct(wasm, { rows: 6, columns: 5, k: 8, block: 4 }, 3)
    const { statement, tensors, proof } = honest
    expect(judge(wasm, { ...honest, proof: proof.slice(1) })).toBe('BAD_PROOF')
    expect(judge(wasm, { ...honest, proof: proof.map(() => 0xff) })).toBe('BAD_PROOF')
    expect(judge(wasm, { ...honest, tensors: { ...tensors, a: tensors.a.slice(1) } })).toBe('WRONG_TENSOR')
    expect(judge(wasm, { ...honest, tensors: { ...tensors, c: tensors.c.slice(1) } })).toBe('WRONG_TENSOR')
    expect(judge(wasm, { ...honest, statement: { ...statement, rootsC: [] } })).toBe('WRONG_TENSOR')
    expect(judge(wasm, { ...honest, proof: proof.map((byte, i) => (i === 16 ? byte ^ 1 : byte)) })).toBe('WRONG_ROUNDS')
    const moved = multiplied(statement, tensors.a, tensors.b)
    moved[1]![0]! ^= 1
    const lie = { ...tensors, c: moved }
    expect(checkHashedSumcheck(wasm, statement, lie, proof)).toBe('WRONG_RESULT')
    const foreign = SUMCHECK_CHEATS['last values that are not those of the operands']!(wasm, honest, () => 0)
    expect(judge(wasm, foreign)).toBe('WRONG_OPERAND')
    const other = { ...tensors, b: tensors.b.map((byte, i) => (i === 0 ? byte ^ 1 : byte)) }
    expect(PLAIN_HASHER.root({ type: 'i8', rows: 5, width: 8 }, other.b)).not.toEqual(statement.rootB)
    expect(checkHashedSumcheck(wasm, statement, other, proof)).toBe('WRONG_OPERAND')
  })

  test('errs with a chance below 2^-100 at the largest sizes, in less than a kilobyte', () => {
    const largest = { rows: 2 ** 20, columns: 2 ** 20, k: 131_072 }
    expect(sumcheckError(largest)).toBeLessThan(-100)
    expect(sumcheckError(largest)).toBeCloseTo(Math.log2(74) - 122, 6)
    // Of one number nothing is drawn: what holds is said all the same, and not that nothing can go wrong.
    expect(sumcheckError({ rows: 1, columns: 1, k: 1 })).toBeCloseTo(-122, 6)
    expect(sumcheckProofBytes(largest.k)).toBe(592)
  })
})
