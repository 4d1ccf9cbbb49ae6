import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { nativeLibraries } from '../../../../../test/support/nativeLibraries.ts'
import { openWasmStep } from '../../../../../test/support/stepWorks.ts'
import { fromHex, toHex } from '../../../bytes/hex.ts'
import { QUAD_BYTES } from '../../stepKernels.ts'
import { decodeQuads, encodeQuads, ONE, plus } from './field31.ts'
import type { Kept, Operand, PlannedProduct, ProductsPlan } from './plan.ts'
import { askedOperands, reduceProducts } from './products.ts'
import { proveProducts } from './proveProducts.ts'
import { StepMatrix } from './stepMatrix.ts'
import { layoutOfPlan } from './stepProof.ts'
import { type StepEngine, StepRooms } from './stepRooms.ts'
import { StepTranscript } from './stepTranscript.ts'

interface Vector {
  readonly kept: readonly (readonly (readonly number[])[])[]
  readonly products: readonly {
    readonly a: number
    readonly isTurnedA: boolean
    readonly b: number
    readonly isTurnedB: boolean
  }[]
  readonly statement: string
  readonly said: string
  readonly claims: readonly {
    readonly kept: number
    readonly row: string
    readonly column: string
    readonly value: string
  }[]
}

const VECTORS: readonly Vector[] = JSON.parse(
  readFileSync(new URL('../../../../../test/vectors/stepProducts.json', import.meta.url), 'utf8'),
)

const MEMORY = 2 ** 22
const native = (await nativeLibraries()).map(({ file, native }): [string, StepEngine] => {
  const memory = new Uint8Array(MEMORY)
  const reserve = (end: number) => expect(end).toBeLessThan(MEMORY)
  const view = (at: number, bytes: number) => memory.subarray(at, at + bytes)
  return [file, { kernels: native.stepOn(memory), start: 64, view, reserve }]
})
const engines: readonly (readonly [string, StepEngine])[] = [['WebAssembly', await openWasmStep()], ...native]

/** The plan of a vector: results come after everything that is kept. */
function planOf({ kept, products }: Vector): ProductsPlan {
  const operands = kept.map((rows, i): Kept => {
    const shape = { type: 'i8', rows: rows.length, width: rows[0]!.length } as const
    return { name: `kept${i}`, shape, isTurned: false }
  })
  const planned = products.map(({ a, isTurnedA, b, isTurnedB }, step): PlannedProduct => {
    const [x, y] = [operands[a]!.shape, operands[b]!.shape]
    const sizes = { rows: isTurnedA ? x.width : x.rows, columns: isTurnedB ? y.width : y.rows }
    const inner = isTurnedA ? x.rows : x.width
    const of = { a: { kept: a, isTurned: isTurnedA }, b: { kept: b, isTurned: isTurnedB }, c: kept.length + step }
    return { step, ...of, ...sizes, inner }
  })
  const results = planned.map(({ rows, columns }, i): Kept => {
    return { name: `result${i}`, shape: { type: 'i32', rows, width: columns }, isTurned: false }
  })
  return { kept: [...operands, ...results], products: planned }
}

const bytesOf = (hex: string) => fromHex(hex, hex.length / 2)!

/** A matrix of the kept tensors of a vector and of their products. */
function matrixOf(rooms: StepRooms, plan: ProductsPlan, { kept }: Vector): StepMatrix {
  const matrix = new StepMatrix(rooms, layoutOfPlan(plan))
  const operands = kept.map((rows) => new Uint8Array(Int8Array.from(rows.flat()).buffer))
  for (const [i, { name }] of plan.kept.slice(0, kept.length).entries()) matrix.add(name, operands[i]!)
  for (const { a, b, c, rows, columns, inner } of plan.products) {
    const entry = ({ kept: at, isTurned }: Operand, row: number, l: number) =>
      isTurned ? kept[at]![l]![row]! : kept[at]![row]![l]!
    const sums = new Int32Array(rows * columns)
    for (let i = 0; i < sums.length; i++)
      for (let l = 0; l < inner; l++) sums[i]! += entry(a, Math.floor(i / columns), l) * entry(b, i % columns, l)
    matrix.add(plan.kept[c]!.name, new Uint8Array(sums.buffer))
  }
  matrix.finish()
  return matrix
}

describe('the products of a transition in one sumcheck', () => {
  test.each(engines)('are said as the independent implementation says them, on %s', (_, engine) => {
    for (const vector of VECTORS) {
      const [plan, rooms] = [planOf(vector), new StepRooms(engine)]
      const transcript = new StepTranscript(bytesOf(vector.statement))
      const { said } = proveProducts(rooms, plan, matrixOf(rooms, plan, vector), transcript)
      expect(toHex(said)).toBe(vector.said)
    }
  })

  test('leave the claims of the independent implementation', () => {
    for (const vector of VECTORS) {
      const plan = planOf(vector)
      const reduced = reduceProducts(plan, new StepTranscript(bytesOf(vector.statement)), bytesOf(vector.said))
      if (typeof reduced === 'string') throw new Error(reduced)
      const ofOperands = reduced.slice(plan.products.length)
      expect(ofOperands.map(({ name, value }) => [name, toHex(encodeQuads([value]))])).toEqual(
        vector.claims.map(({ kept, value }) => [plan.kept[kept]!.name, value]),
      )
      expect(askedOperands(plan).asked).toEqual(vector.claims.map(({ value: _, ...asked }) => asked))
    }
  })

  test('lead nowhere where any number of them is another', () => {
    for (const vector of VECTORS) {
      const [plan, said] = [planOf(vector), bytesOf(vector.said)]
      const judge = (bytes: Uint8Array) => reduceProducts(plan, new StepTranscript(bytesOf(vector.statement)), bytes)
      const numbers = decodeQuads(said, said.length / QUAD_BYTES)!
      for (let at = 0; at < numbers.length; at++)
        expect(judge(encodeQuads(numbers.with(at, plus(numbers[at]!, ONE))))).toBe('WRONG_ROUNDS')
      const high = said.slice()
      high.fill(255, 0, 4)
      expect([high, said.slice(1), said.slice(QUAD_BYTES), new Uint8Array()].map(judge)).toEqual(
        Array(4).fill('BAD_PROOF'),
      )
    }
  })

  test('leave claims that hold, whichever tensors share products and however they are turned', () => {
    const side = fc.integer({ min: 1, max: 5 })
    const place = fc.nat({ max: 2 })
    const wanted = fc.tuple(side, side, side, fc.array(fc.tuple(place, place), { minLength: 1, maxLength: 5 }))
    fc.assert(
      fc.property(wanted, fc.infiniteStream(fc.integer({ min: -127, max: 127 })), ([n, m, k, pairs], entries) => {
        // Any two of these share a side: p[n][k], q[k][m], t[m][k].
        const shapes = [[n, k] as const, [k, m] as const, [m, k] as const]
        const kept = shapes.map(([rows, width]) => Array.from({ length: rows }, () => [...entries.take(width)]))
        const products = pairs.map(([a, b]) => ({ a, isTurnedA: a === 1, b, isTurnedB: b === 1 }))
        const vector = { kept, products, statement: '', said: '', claims: [] }
        const [plan, rooms] = [planOf(vector), new StepRooms(engines[0]![1])]
        const matrix = matrixOf(rooms, plan, vector)
        const { said, claims } = proveProducts(rooms, plan, matrix, new StepTranscript())
        expect(reduceProducts(plan, new StepTranscript(), said)).toEqual(claims)
        for (const { name, row, column, value } of claims) expect(matrix.valueAt(name, row, column)).toEqual(value)
      }),
      { numRuns: 20 },
    )
  })
})
