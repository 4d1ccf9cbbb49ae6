import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { nativeLibraries } from '../../../../../test/support/nativeLibraries.ts'
import {
  judgeOpening,
  openedMatrix,
  openWasmStep,
  STEP_CHEATS,
  someMatrix,
  stepCheatsThatPass,
  transcriptOf,
} from '../../../../../test/support/stepMatrices.ts'
import { concatBytes, u32le } from '../../../bytes/bytes.ts'
import { fromHex, toHex } from '../../../bytes/hex.ts'
import { sha256 } from '../../../bytes/sha256.ts'
import { ELEMENT_BYTES } from '../../tensor.ts'
import { checkOpening, openingError } from './checkOpening.ts'
import { decodeQuads, encodeQuads, minus, P, plus, type Quad, quadFrom, times } from './field31.ts'
import { type Claim, type KeptTensor, layoutOf, type Reveal } from './stepLayout.ts'
import { StepMatrix } from './stepMatrix.ts'
import { type StepEngine, StepRooms } from './stepRooms.ts'

interface Vector {
  readonly tensors: readonly KeptTensor[]
  readonly seeds: readonly string[]
  readonly low: number
  readonly root: string
  readonly claims: readonly Claim[]
  readonly reveals: readonly Reveal[]
  readonly proofBytes: number
  readonly proofSha256: string
}

const VECTORS: readonly Vector[] = JSON.parse(
  readFileSync(new URL('../../../../../test/vectors/stepMatrix.json', import.meta.url), 'utf8'),
)

const wasm = await openWasmStep()
const MEMORY = 2 ** 25
const native = (await nativeLibraries()).map(({ file, native }): [string, StepEngine] => {
  const memory = new Uint8Array(MEMORY)
  const reserve = (end: number) => expect(end).toBeLessThan(MEMORY)
  const view = (at: number, bytes: number) => memory.subarray(at, at + bytes)
  return [file, { kernels: native.stepOn(memory), start: 64, view, reserve }]
})
const engines: readonly (readonly [string, StepEngine])[] = [['WebAssembly', wasm], ...native]

/** The bytes that a seed of a vector makes. */
function bytesFrom(seed: string, { type, rows, width }: KeptTensor): Uint8Array {
  const count = rows * width * ELEMENT_BYTES[type]
  const blocks = Array.from({ length: Math.ceil(count / 32) }, (_, i) => sha256(fromHex(seed, 32)!, u32le(i)))
  return concatBytes(...blocks).slice(0, count)
}

describe.each(engines)('the matrix of a step, on %s', (_, engine) => {
  test('is committed to and opened as the independent implementation does, byte for byte', () => {
    for (const { tensors, seeds, low, root, claims, reveals, proofBytes, proofSha256 } of VECTORS) {
      const layout = layoutOf(tensors)
      const matrix = new StepMatrix(new StepRooms(engine), layout)
      const bytes = tensors.map((tensor, i) => bytesFrom(seeds[i]!, tensor))
      for (const [i, { name }] of tensors.entries()) matrix.add(name, bytes[i]!)
      expect([layout.low, toHex(matrix.finish())]).toEqual([low, root])
      for (const { name, row, column, value } of claims) expect(matrix.valueAt(name, row, column)).toEqual(value)
      const proof = matrix.open(claims, reveals, transcriptOf(layout, fromHex(root, 32)!))
      expect([proof.length, toHex(sha256(proof))]).toEqual([proofBytes, proofSha256])
      const found = checkOpening(
        engine,
        layout,
        fromHex(root, 32)!,
        claims,
        reveals,
        transcriptOf(layout, fromHex(root, 32)!),
        proof,
      )
      const shown = reveals.map(({ name, row, rows }) => {
        const at = tensors.findIndex((tensor) => tensor.name === name)
        const each = bytes[at]!.length / tensors[at]!.rows
        return bytes[at]!.slice(row * each, (row + rows) * each)
      })
      expect(found).toEqual({ revealed: shown, areWithin: expect.any(Function) })
    }
  })

  test('holds tensors of any shape', () => {
    const shape = fc.record({
      type: fc.constantFrom('i8' as const, 'i32' as const),
      rows: fc.oneof(fc.integer({ min: 1, max: 40 }), fc.constantFrom(64, 300)),
      width: fc.oneof(fc.integer({ min: 1, max: 70 }), fc.constantFrom(128, 257)),
    })
    fc.assert(
      fc.property(fc.array(shape, { minLength: 1, maxLength: 4 }), fc.integer(), (shapes, seed) => {
        const tensors = shapes.map((each, i) => ({ ...each, name: `t${i}` }))
        const bytes = tensors.map((tensor, i) => bytesFrom(toHex(sha256(u32le(seed >>> 0), u32le(i))), tensor))
        const { name, rows } = tensors.at(-1)!
        const reveals = [{ name, row: Math.floor(rows / 2), rows: Math.ceil(rows / 2) }]
        const each = bytes.at(-1)!.length / rows
        const shown = bytes.at(-1)!.slice(Math.floor(rows / 2) * each)
        expect(judgeOpening(engine, openedMatrix(engine, tensors, bytes, reveals))).toEqual({
          revealed: [shown],
          areWithin: expect.any(Function),
        })
      }),
      { numRuns: 5 },
    )
  })
})

describe('the matrix of a step', () => {
  test.each(Object.entries(STEP_CHEATS))('%s is found, 8 times', async (_, cheat) => {
    expect(stepCheatsThatPass(wasm, await openWasmStep(), cheat, 8)).toBe(0)
  })

  test('says what is wrong', async () => {
    const other = await openWasmStep()
    const honest = someMatrix(wasm, 0)
    const problem = (name: string) =>
      judgeOpening(
        other,
        STEP_CHEATS[name]!(other, honest, () => 0),
      )
    expect(problem('a wrong value')).toBe('WRONG_VALUE')
    expect(problem('a wrong value, and a combined row that leads to it')).toBe('WRONG_CODE')
    expect(problem('a wrong entry in a row that is shown')).toBe('WRONG_CODE')
    expect(problem('a wrong entry of a tensor, under the honest root')).toBe('COLUMN_NOT_COMMITTED')
    expect(problem('the root of another matrix')).toBe('BAD_OPENING')
    expect(problem('a truncated opening')).toBe('BAD_OPENING')
    expect(problem('an extended opening')).toBe('BAD_OPENING')
    expect(problem('a number not in its spelling')).toBe('BAD_OPENING')
    expect(problem('a turned bit of the opening')).toBe('BAD_OPENING')
  })

  test('errs with a chance below 2^-100 where a step is as large as it gets', () => {
    const tensors = Array.from(
      { length: 60 },
      (_, i): KeptTensor => ({ name: `t${i}`, type: 'i8', rows: 2 ** 18, width: 1024 }),
    )
    const at = (coordinates: number) => Array.from({ length: coordinates }, (): Quad => [1, 2, 3, 4])
    const claims = tensors.map(({ name }) => ({ name, row: at(18), column: at(10), value: at(1)[0]! }))
    expect(openingError(layoutOf(tensors), claims, 0)).toBeLessThan(-100.4)
    expect(openingError(layoutOf(tensors.slice(0, 1)), claims.slice(0, 1), 0)).toBeGreaterThan(-101.1)
  })

  test('is asked where it is', () => {
    const { layout, matrix, root, claims } = someMatrix(wasm, 0)
    const open = (claim: Claim, reveals: readonly Reveal[]) => () =>
      matrix.open([claim], reveals, transcriptOf(layout, root))
    expect(open({ ...claims[0]!, row: claims[0]!.row.slice(1) }, [])).toThrow('coordinates')
    expect(open(claims[0]!, [{ name: 'a', row: 20, rows: 5 }])).toThrow('no rows 20 to 24')
  })

  test('takes tensors in their order and of their size, and nothing else', () => {
    const tensors: readonly KeptTensor[] = [
      { name: 'a', type: 'i8', rows: 4, width: 4 },
      { name: 'b', type: 'i8', rows: 4, width: 4 },
    ]
    const matrix = new StepMatrix(new StepRooms(wasm), layoutOf(tensors))
    expect(() => matrix.add('b', new Uint8Array(16))).toThrow('out of order')
    expect(() => matrix.add('a', new Uint8Array(15))).toThrow('15 bytes')
    expect(() => matrix.add('c', new Uint8Array(16))).toThrow('not kept')
    matrix.add('a', new Uint8Array(16))
    expect(() => matrix.finish()).toThrow('missing')
    expect(() => layoutOf([...tensors, ...tensors])).toThrow('twice')
    expect(() => layoutOf([{ name: 'a', type: 'i8', rows: 1, width: 2 ** 17 + 1 }])).toThrow('131072')
  })
})

describe('numbers of the field of quads', () => {
  const coordinate = fc.integer({ min: 0, max: P - 1 })
  const quad = fc.tuple(coordinate, coordinate, coordinate, coordinate)
  const bigTimes = (a: Quad, b: Quad): Quad => {
    const out = Array.from({ length: 7 }, () => 0n)
    for (const [i, x] of a.entries()) for (const [j, y] of b.entries()) out[i + j]! += BigInt(x) * BigInt(y)
    const at = (i: number) => Number((out[i]! + 11n * (out[i + 4] ?? 0n)) % BigInt(P))
    return [at(0), at(1), at(2), at(3)]
  }

  test('are a field, as whole numbers have it', () => {
    fc.assert(
      fc.property(quad, quad, quad, (a, b, c) => {
        expect(times(a, b)).toEqual(bigTimes(a, b))
        expect(times(a, plus(b, c))).toEqual(plus(times(a, b), times(a, c)))
        expect(plus(minus(a, b), b)).toEqual(a)
      }),
    )
  })

  test('have one spelling', () => {
    fc.assert(
      fc.property(fc.array(quad), (quads) => {
        expect(decodeQuads(encodeQuads(quads), quads.length)).toEqual(quads)
      }),
    )
    expect(decodeQuads(new Uint8Array(17), 1)).toBeNull()
    expect(decodeQuads(concatBytes(u32le(P), new Uint8Array(12)), 1)).toBeNull()
  })

  test('are drawn from 8 bytes for each coordinate', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (hash) => {
        const words = new BigUint64Array(hash.slice().buffer)
        expect(quadFrom(hash)).toEqual(Array.from(words, (word) => Number(word % BigInt(P))))
      }),
    )
  })
})
